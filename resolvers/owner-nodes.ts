import type { Spender } from '../src/domain/admission/counters.ts';
import { type Budget, countStart } from '../src/domain/budgets/budget.ts';
import type { Customer } from '../src/domain/customers/customer.ts';
import { type Usd, ZERO_USD } from '../src/domain/money.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { Organization, OrganizationMember } from '../src/domain/organizations/organization.ts';
import type { Project } from '../src/domain/projects/project.ts';
import type { CountedKind } from '../src/domain/spend/spend-row.ts';
import type { TeamMember } from '../src/domain/teams/member.ts';
import type { Team } from '../src/domain/teams/team.ts';
import type { User } from '../src/domain/users/user.ts';
import { isAnyAdmin, teamReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { smallerSpend } from './operation/window-spend.ts';
import { type OwnerScope, seesTeam, visibleOrganizationIds } from './operation/visible-owners.ts';

/** Whether the caller is an administrator with full or read-only access. */
const isAnyAdminIn = (scope: OwnerScope): boolean => scope.caller !== null && isAnyAdmin(scope.caller);

/** A stored team by its id; null when there is none that the caller may see. */
export const findTeamRow = operation({
  name: 'findTeamRow',
  access: teamReader,
  async run(scope, id: string): Promise<Team | null> {
    const team = await scope.loaders.owners.teamById.load(id);
    return team !== null && (await seesTeam(scope, team)) ? team : null;
  },
});

/** A user by its id, for administrators and for keys of the user; null for others. */
export const findUserRow = operation({
  name: 'findUserRow',
  access: teamReader,
  async run(scope, id: string): Promise<User | null> {
    if (!isAnyAdminIn(scope) && nullIfBlank(callerOf(scope).userId) !== id) return null;
    return scope.loaders.owners.userById.load(id);
  },
});

/** An organization by its id, for administrators and members of the organization; null for others. */
export const findOrganizationRow = operation({
  name: 'findOrganizationRow',
  access: teamReader,
  async run(scope, id: string): Promise<Organization | null> {
    const visible = await visibleOrganizationIds(scope);
    return visible === null || visible.includes(id) ? scope.loaders.owners.organizationById.load(id) : null;
  },
});

/** A project by its id, for callers that see its team; null for others. */
export const findProjectRow = operation({
  name: 'findProjectRow',
  access: teamReader,
  async run(scope, id: string): Promise<Project | null> {
    const project = await scope.loaders.owners.projectById.load(id);
    if (project === null || isAnyAdminIn(scope)) return project;
    return (await findTeamRow(scope, project.teamId)) === null ? null : project;
  },
});

/** A customer by its id, for administrators; null for others. */
export const findCustomerRow = operation({
  name: 'findCustomerRow',
  access: teamReader,
  run: async (scope, id: string): Promise<Customer | null> =>
    isAnyAdminIn(scope) ? scope.loaders.owners.customerById.load(id) : null,
});

/** A budget by its id, for administrators; null for others. */
export const findBudgetRow = operation({
  name: 'findBudgetRow',
  access: teamReader,
  run: async (scope, id: string): Promise<Budget | null> =>
    isAnyAdminIn(scope) ? scope.loaders.owners.budgetById.load(id) : null,
});

/** Members of a team; empty when the caller does not see the team. */
export const listTeamMembers = operation({
  name: 'listTeamMembers',
  access: teamReader,
  run: async (scope, teamId: string): Promise<readonly TeamMember[]> =>
    (await findTeamRow(scope, teamId)) === null ? [] : scope.loaders.owners.membersOfTeam.load(teamId),
});

/** Projects of a team; empty when the caller does not see the team. */
export const listTeamProjects = operation({
  name: 'listTeamProjects',
  access: teamReader,
  run: async (scope, teamId: string): Promise<readonly Project[]> =>
    (await findTeamRow(scope, teamId)) === null ? [] : scope.loaders.owners.projectsOfTeam.load(teamId),
});

/** Memberships of a user in teams; empty when the caller does not see the user. */
export const listUserTeams = operation({
  name: 'listUserTeams',
  access: teamReader,
  run: async (scope, userId: string): Promise<readonly TeamMember[]> =>
    (await findUserRow(scope, userId)) === null ? [] : scope.loaders.owners.teamMembershipsOfUser.load(userId),
});

/** Members of an organization; empty when the caller does not see the organization. */
export const listOrganizationMembers = operation({
  name: 'listOrganizationMembers',
  access: teamReader,
  run: async (scope, id: string): Promise<readonly OrganizationMember[]> =>
    (await findOrganizationRow(scope, id)) === null ? [] : scope.loaders.owners.membersOfOrganization.load(id),
});

/** Whether the caller sees the spend of an owner or a key. Only administrators see the spend of other keys. */
async function seesSpend(scope: Scope<object>, kind: Spender, id: string): Promise<boolean> {
  if (isAnyAdminIn(scope)) return true;
  switch (kind) {
    case 'team':
      return (await findTeamRow(scope, id)) !== null;
    case 'user':
      return (await findUserRow(scope, id)) !== null;
    case 'organization':
      return (await findOrganizationRow(scope, id)) !== null;
    case 'project':
      return (await findProjectRow(scope, id)) !== null;
    case 'member': {
      // The id of a member is a JSON list of team id and user id.
      const [team = ''] = JSON.parse(id) as readonly string[];
      return (await findTeamRow(scope, team)) !== null;
    }
    case 'key':
      return callerOf(scope).keyHash === id;
    case 'tag':
    case 'end_user':
    case 'window':
      return false;
  }
}

/**
 * Total spend of an owner or a key; null when the caller may not see it. Every caller sees the spend of its own key.
 */
export const readTotalSpend = operation({
  name: 'readTotalSpend',
  access: teamReader,
  async run(scope, { kind, id }: { readonly kind: Spender; readonly id: string }): Promise<Usd | null> {
    return (await seesSpend(scope, kind, id)) ? scope.loaders.owners.totalSpend.load({ kind, id }) : null;
  },
});

/** Object whose spend restarts with its own window, or with the window of its budget row. */
interface RestartedSpend {
  readonly kind: CountedKind;
  readonly id: string;
  /** Id of the budget row of the object; null for none. */
  readonly budgetId: string | null;
  /** Total spend when the object's own window began. */
  readonly spentBefore?: Usd | null;
}

/** Spend in the current budget window. The budget limits this spend. Null when the caller may not see it. */
export const readWindowSpend = operation({
  name: 'readWindowSpend',
  access: teamReader,
  async run(
    scope: Scope<Pick<TeamPlatform, 'clock'>>,
    { kind, id, budgetId, spentBefore }: RestartedSpend,
  ): Promise<Usd | null> {
    if (!(await seesSpend(scope, kind, id))) return null;
    const { owners } = scope.loaders;
    const [total, budget] = await Promise.all([
      owners.totalSpend.load({ kind, id }),
      budgetId === null ? null : owners.budgetById.load(budgetId),
    ]);
    const from = budget === null ? null : countStart(budget, scope.platform.clock.now());
    const since = from === null ? null : await owners.spendSince.load({ kind, id, from });
    return smallerSpend((total - (spentBefore ?? ZERO_USD)) as Usd, since);
  },
});
