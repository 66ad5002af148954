import { type BudgetPatch, newBudget, patchedBudget } from '../src/domain/budgets/budget.ts';
import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import {
  newOrganization,
  type Organization,
  type OrganizationPatch,
  patchedOrganization,
} from '../src/domain/organizations/organization.ts';
import { teamReader, tenantAdmin } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import { addWithBudgets, saveBudget } from './operation/owned-budgets.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import {
  organizationView,
  organizationViews,
  type OrganizationView,
  readableOrganizations,
  unknownOrganization,
} from './operation/organization-views.ts';

/** A new organization. */
export interface OrganizationDraft {
  /** Null for a generated id. */
  readonly id: string | null;
  readonly alias: string;
  readonly patch: OrganizationPatch;
  readonly budgetId: string | null;
  readonly limits: BudgetPatch;
}

/** Creates an organization with a budget. Throws Conflict when the id is taken, and InvalidInput. */
export const createOrganization = operation({
  name: 'createOrganization',
  access: tenantAdmin,
  async run(
    scope: Scope<TeamPlatform>,
    { id, alias, patch, budgetId, limits }: OrganizationDraft,
  ): Promise<OrganizationView> {
    const { stores, ids } = scope.platform;
    const identity = { ...authored(scope), id: nullIfBlank(id) ?? ids.uuid() };
    if ((await stores.organizations.find(identity.id)) !== null)
      throw new Conflict(`Organization with id '${identity.id}' already exists.`);
    const namedBudgetId = nullIfBlank(budgetId) === null ? null : await saveBudget(scope, { budgetId, limits }, null);
    const ownBudget = namedBudgetId === null ? newBudget(limits, { ...identity, id: ids.uuid() }) : null;
    const organization = newOrganization(patch, {
      ...identity,
      alias,
      budgetId: namedBudgetId ?? ownBudget?.id ?? '',
    });
    if (ownBudget !== null) await stores.budgets.add(ownBudget);
    const created = ownBudget === null ? [] : [ownBudget.id];
    await addWithBudgets(scope, created, () => stores.organizations.add(organization));
    return organizationView(scope, organization);
  },
});

/** Reads the organizations with these ids. Unknown ones, and those that the caller may not read, are left out. */
export const getOrganizations = operation({
  name: 'getOrganizations',
  access: teamReader,
  async run(scope: Scope<TeamPlatform>, ids: readonly string[]): Promise<readonly OrganizationView[]> {
    const readable = await readableOrganizations(scope);
    const visible = readable === null ? ids : ids.filter((id) => readable.includes(id));
    return organizationViews(scope, await scope.platform.stores.organizations.findMany(visible));
  },
});

/** Reads one organization. Throws NotFound, also when the caller may not read it. */
export const getOrganization = operation({
  name: 'getOrganization',
  access: teamReader,
  async run(scope: Scope<TeamPlatform>, { id }: { readonly id: string }): Promise<OrganizationView> {
    const [view] = await getOrganizations(scope, [id]);
    if (view === undefined) throw unknownOrganization(id);
    return view;
  },
});

/** Lists the organizations that the caller may read. */
export const listOrganizations = operation({
  name: 'listOrganizations',
  access: teamReader,
  async run(
    scope: Scope<TeamPlatform>,
    { id, aliasPart }: { readonly id: string | null; readonly aliasPart: string | null },
  ): Promise<readonly OrganizationView[]> {
    const readable = await readableOrganizations(scope);
    const named = nullIfBlank(id);
    const isReadable = (one: string): boolean => readable === null || readable.includes(one);
    const ids = named === null ? readable : [named].filter(isReadable);
    const found = await scope.platform.stores.organizations.all({ ids, aliasPart: nullIfBlank(aliasPart) });
    return organizationViews(scope, found);
  },
});

/** Changes an organization and its budget. Throws NotFound and InvalidInput. */
export const updateOrganization = operation({
  name: 'updateOrganization',
  access: tenantAdmin,
  async run(
    scope: Scope<TeamPlatform>,
    { id, patch, limits }: { readonly id: string; readonly patch: OrganizationPatch; readonly limits: BudgetPatch },
  ): Promise<OrganizationView> {
    const { stores, ownedKeys } = scope.platform;
    const authorship = authored(scope);
    const stored = await stores.organizations.find(id);
    if (stored === null) throw unknownOrganization(id);
    const wanted = patchedOrganization(stored, patch, authorship);
    const budget = await stores.budgets.find(wanted.budgetId);
    // Only for its error: invalid limits are refused before the organization is stored.
    if (budget !== null) patchedBudget(budget, limits, authorship);
    const done = await stores.organizations.change(id, (row) => patchedOrganization(row, patch, authorship));
    if (done === null) throw unknownOrganization(id);
    if (Object.keys(limits).length > 0)
      await stores.budgets.change(done.after.budgetId, (row) => patchedBudget(row, limits, authorship));
    const view = await organizationView(scope, done.after);
    ownedKeys.evictOwner({ kind: 'organizationId', id });
    return view;
  },
});

/**
 * Deletes organizations that have no teams, with their memberships. Throws NotFound and InvalidInput before any is
 * deleted.
 */
export const deleteOrganizations = operation({
  name: 'deleteOrganizations',
  access: tenantAdmin,
  async run(scope: Scope<TeamPlatform>, ids: readonly string[]): Promise<readonly Organization[]> {
    const { stores, ownedKeys } = scope.platform;
    const views = await organizationViews(scope, await stores.organizations.findMany(ids));
    const missing = ids.find((id) => !views.some(({ organization }) => organization.id === id));
    if (missing !== undefined) throw unknownOrganization(missing);
    const used = views.find(({ teams }) => teams.length > 0);
    if (used !== undefined)
      throw new InvalidInput(`Organization ${used.organization.id} has teams. Delete or move them first.`);
    const members = views.flatMap((view) => view.members.map(({ member }) => member.id));
    await stores.organizationMembers.remove(members);
    const removed = await stores.organizations.remove(ids);
    for (const { id } of removed) ownedKeys.evictOwner({ kind: 'organizationId', id });
    return removed;
  },
});
