import type { Budget } from '../../src/domain/budgets/budget.ts';
import { NotFound } from '../../src/domain/errors.ts';
import type { Usd } from '../../src/domain/money.ts';
import type { Organization, OrganizationMember } from '../../src/domain/organizations/organization.ts';
import type { Team } from '../../src/domain/teams/team.ts';
import { isAnyAdmin, refuseManagement } from './access.ts';
import { callerOf } from './operation.ts';
import { budgetsOf } from './owned-budgets.ts';
import type { TeamPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import { countedSpends } from './window-spend.ts';
import { administersOrganization } from './team-views.ts';

/** A member of an organization with its budget. */
export interface OrganizationMemberView {
  readonly member: OrganizationMember;
  readonly budget: Budget | null;
}

/** An organization with its budget, members, teams and spend. */
export interface OrganizationView {
  readonly organization: Organization;
  readonly budget: Budget | null;
  readonly members: readonly OrganizationMemberView[];
  readonly teams: readonly Team[];
  /** Spend of the keys of the organization and its teams, deleted keys included, in the window of the budget. */
  readonly spend: Usd;
}

export const unknownOrganization = (id: string): NotFound =>
  new NotFound('organization', id, `Organization not found for organization_id=${id}`);

/** Organizations with their budgets, members and teams. */
export async function organizationViews(
  scope: Scope<TeamPlatform>,
  organizations: readonly Organization[],
): Promise<readonly OrganizationView[]> {
  const { stores } = scope.platform;
  const organizationIds = organizations.map(({ id }) => id);
  const [members, teams] = await Promise.all([
    stores.organizationMembers.all({ organizationIds, userIds: null }),
    Promise.all(
      organizationIds.map((organizationId) => stores.teams.all({ ids: null, aliasPart: null, organizationId })),
    ),
  ]);
  const budgets = await budgetsOf(scope, [...organizations, ...members]);
  const all = organizations.map(({ id, budgetId }) => ({ id, budget: budgets.get(budgetId) ?? null }));
  const spentBy = await countedSpends(stores, 'organization', { all, now: scope.platform.clock.now() });
  return organizations.map((organization, position) => ({
    organization,
    budget: budgets.get(organization.budgetId) ?? null,
    members: members
      .filter(({ organizationId }) => organizationId === organization.id)
      .map((member) => ({ member, budget: budgets.get(member.budgetId ?? '') ?? null })),
    teams: teams[position] ?? [],
    spend: spentBy(organization.id).spend,
  }));
}

export async function organizationView(
  scope: Scope<TeamPlatform>,
  organization: Organization,
): Promise<OrganizationView> {
  const [view] = await organizationViews(scope, [organization]);
  if (view === undefined) throw unknownOrganization(organization.id);
  return view;
}

/** An organization whose members the caller may change. Throws NotFound, and Forbidden. */
export async function managedOrganization(scope: Scope<TeamPlatform>, id: string): Promise<Organization> {
  const caller = callerOf(scope);
  if (caller.role !== 'proxy_admin' && !(await administersOrganization(scope, caller, id)))
    throw refuseManagement(caller);
  const organization = await scope.platform.stores.organizations.find(id);
  if (organization === null) throw unknownOrganization(id);
  return organization;
}

/** Ids of the organizations that the caller may read; null for all. */
export async function readableOrganizations(scope: Scope<TeamPlatform>): Promise<readonly string[] | null> {
  const caller = callerOf(scope);
  if (isAnyAdmin(caller)) return null;
  if (caller.userId === null) return [];
  const members = await scope.platform.stores.organizationMembers.all({
    organizationIds: null,
    userIds: [caller.userId],
  });
  return members.map(({ organizationId }) => organizationId);
}
