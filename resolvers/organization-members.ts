import type { BudgetPatch } from '../src/domain/budgets/budget.ts';
import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import { newStamps } from '../src/domain/row-store.ts';
import type { OrganizationMember, OrganizationRole } from '../src/domain/organizations/organization.ts';
import type { User } from '../src/domain/users/user.ts';
import { teamManager } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import { addWithBudgets, budgetsOf, changeWithBudget, createdBudgets, saveBudget } from './operation/owned-budgets.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { managedOrganization, type OrganizationMemberView } from './operation/organization-views.ts';
import { userNamed } from './operation/team-joining.ts';
import { type UserView, userViews } from './operation/user-views.ts';

/** A user who is to join an organization, by id or by email. */
export interface WantedOrganizationMember {
  readonly userId: string | null;
  readonly email: string | null;
  readonly role: OrganizationRole;
}

/** Users who joined an organization. */
export interface JoinedOrganization {
  readonly users: readonly UserView[];
  readonly members: readonly OrganizationMemberView[];
}

async function memberOf(
  { platform }: Scope<TeamPlatform>,
  organizationId: string,
  userId: string,
): Promise<OrganizationMember | null> {
  const found = await platform.stores.organizationMembers.all({
    organizationIds: [organizationId],
    userIds: [userId],
  });
  return found[0] ?? null;
}

async function viewsOf(
  scope: Scope<TeamPlatform>,
  members: readonly OrganizationMember[],
): Promise<readonly OrganizationMemberView[]> {
  const budgets = await budgetsOf(scope, members);
  return members.map((member) => ({ member, budget: budgets.get(member.budgetId ?? '') ?? null }));
}

/**
 * Adds users to an organization in order; users that do not exist are created. Throws NotFound, InvalidInput,
 * Forbidden, and Conflict for a user who is a member. Users that were added before the error stay members.
 */
export const addOrganizationMembers = operation({
  name: 'addOrganizationMembers',
  access: teamManager,
  async run(
    scope: Scope<TeamPlatform>,
    {
      id,
      members,
      limits,
    }: {
      readonly id: string;
      readonly members: readonly WantedOrganizationMember[];
      readonly limits: BudgetPatch;
    },
  ): Promise<JoinedOrganization> {
    const { stores, ids } = scope.platform;
    const organization = await managedOrganization(scope, id);
    const users: User[] = [];
    const added: OrganizationMember[] = [];
    for (const { role, ...named } of members) {
      const user = await userNamed(scope, named);
      if ((await memberOf(scope, organization.id, user.id)) !== null)
        throw new Conflict(`User already in organization. Member: user_id=${user.id}`);
      const budget = { budgetId: null, limits };
      const budgetId = await saveBudget(scope, budget, null);
      const stamps = newStamps(authored(scope));
      const member = { id: ids.uuid(), organizationId: organization.id, userId: user.id, role, budgetId, ...stamps };
      await addWithBudgets(scope, createdBudgets(budget, budgetId), () => stores.organizationMembers.add(member));
      users.push(user);
      added.push(member);
    }
    return { users: await userViews(scope, users), members: await viewsOf(scope, added) };
  },
});

/** A member of an organization. */
export interface NamedOrganizationMember {
  readonly id: string;
  readonly userId: string;
}

const notAMember = ({ id, userId }: NamedOrganizationMember): InvalidInput =>
  new InvalidInput(`User ${userId} is not a member of organization ${id}.`);

/** Changes the role and the budget of a member. Throws NotFound, InvalidInput and Forbidden. */
export const updateOrganizationMember = operation({
  name: 'updateOrganizationMember',
  access: teamManager,
  async run(
    scope: Scope<TeamPlatform>,
    {
      named,
      role,
      limits,
    }: {
      readonly named: NamedOrganizationMember;
      readonly role: OrganizationRole | null;
      readonly limits: BudgetPatch;
    },
  ): Promise<OrganizationMemberView> {
    const authorship = authored(scope);
    await managedOrganization(scope, named.id);
    const member = await memberOf(scope, named.id, named.userId);
    if (member === null) throw notAMember(named);
    const done = await changeWithBudget(scope, scope.platform.stores.organizationMembers, member, {
      wanted: { budgetId: null, limits },
      budgetOf: ({ budgetId }) => budgetId,
      change: (row, budgetId) => ({
        ...row,
        role: role ?? row.role,
        budgetId,
        updatedAt: authorship.now,
        updatedBy: authorship.by,
      }),
    });
    const [view] = await viewsOf(scope, done === null ? [] : [done.after]);
    if (view === undefined) throw notAMember(named);
    return view;
  },
});

/** Removes a user from an organization. Throws NotFound, InvalidInput and Forbidden. */
export const removeOrganizationMember = operation({
  name: 'removeOrganizationMember',
  access: teamManager,
  async run(scope: Scope<TeamPlatform>, named: NamedOrganizationMember): Promise<OrganizationMemberView> {
    await managedOrganization(scope, named.id);
    const member = await memberOf(scope, named.id, named.userId);
    if (member === null) throw notAMember(named);
    const removed = await scope.platform.stores.organizationMembers.remove([member.id]);
    const [view] = await viewsOf(scope, removed);
    if (view === undefined) throw notAMember(named);
    return view;
  },
});
