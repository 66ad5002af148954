import { newBudget, patchedBudget } from '../src/domain/budgets/budget.ts';
import { type LimitsPatch, setsLimits } from '../src/domain/budgets/limits.ts';
import { Conflict, Forbidden, InvalidInput } from '../src/domain/errors.ts';
import { adminOnlyMetadataOfNewTeam, withKeptRightsOfTeam } from '../src/domain/keys/granting-members.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { startedOwner } from '../src/domain/owners/started-owner.ts';
import type { ChangedRow } from '../src/domain/row-store.ts';
import { defaultsOfTeams } from '../src/domain/settings/row-defaults.ts';
import { isSwitchedOn } from '../src/domain/settings/switches.ts';
import { needsProxyAdmin } from '../src/domain/teams/admin-fields.ts';
import { storedCallbacks } from '../src/domain/teams/logging.ts';
import {
  newTeam,
  patchedTeam,
  type Team,
  type TeamFilter,
  type TeamPatch,
  type TeamSort,
} from '../src/domain/teams/team.ts';
import { allowedGuardrails } from './operation/guardrail-rights.ts';
import { isAnyAdmin, refuseManagement, teamManager, teamReader, tenantAdmin } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import { addWithBudgets, changeWithBudget } from './operation/owned-budgets.ts';
import type { SpendResetPlatform, TeamLoggingPlatform, TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { resolveMembers, storeMembers, type WantedMember } from './operation/team-joining.ts';
import {
  administersOrganization,
  type CountedTeam,
  countedTeams,
  managedTeam,
  readableTeam,
  type TeamView,
  teamView,
  teamViews,
  unknownTeam,
} from './operation/team-views.ts';

/** A new team. */
export interface TeamDraft {
  /** Null for a generated id. */
  readonly id: string | null;
  readonly patch: TeamPatch;
  readonly members: readonly WantedMember[];
  /** Limits of members that have no limits of their own. */
  readonly memberLimits: LimitsPatch;
}

/** Checks that the models and the budget of a team are within those of its organization. Throws InvalidInput. */
async function assertInOrganization({ platform }: Scope<TeamPlatform>, team: Team): Promise<void> {
  const { organizationId, models, maxBudget } = team;
  if (organizationId === null) return;
  const { organizations, budgets } = platform.stores;
  const organization = await organizations.find(organizationId);
  if (organization === null) throw new InvalidInput(`Organization not found for organization_id=${organizationId}`);
  const foreign =
    organization.models.length === 0 ? undefined : models.find((one) => !organization.models.includes(one));
  if (foreign !== undefined)
    throw new InvalidInput(`Model ${foreign} is not a model of the organization ${organizationId}.`);
  const organizationBudget = (await budgets.find(organization.budgetId))?.maxBudget ?? null;
  if (organizationBudget !== null && maxBudget !== null && maxBudget > organizationBudget)
    throw new InvalidInput(`The budget of the team exceeds that of the organization ${organizationId}.`);
}

/**
 * Creates a team. Absent settings get the defaults of new teams; a budget of members without a window gets that of the
 * team. Unless `members` names the author (see `authored`),
 * the author becomes an administrator of the team, except proxy administrators where
 * `disable_auto_add_proxy_admin_to_teams` is on. Throws Conflict when the id is taken or, before the team is stored,
 * when a member is named twice. Throws InvalidInput, and Forbidden for rights that the caller lacks.
 */
export const createTeam = operation({
  name: 'createTeam',
  access: teamManager,
  async run(scope: Scope<TeamLoggingPlatform>, draft: TeamDraft): Promise<TeamView> {
    const { stores, ids, ownedKeys, configuration } = scope.platform;
    const { id, members, memberLimits } = draft;
    const patch = { ...defaultsOfTeams(configuration), ...draft.patch };
    const caller = callerOf(scope);
    const authorship = authored(scope);
    const organizationId = nullIfBlank(patch.organizationId);
    if (caller.role !== 'proxy_admin' && !(await administersOrganization(scope, caller, organizationId)))
      throw refuseManagement(caller);
    const grants = (draft.patch.objectPermission ?? null) !== null || adminOnlyMetadataOfNewTeam(draft.patch) !== null;
    if (caller.role !== 'proxy_admin' && grants) throw refuseRightsOfTeam();
    // Only a check: the result equals `patch`, because a new team has no stored guardrails that would be kept.
    allowedGuardrails(scope, patch, { team: {}, before: {}, ofTeam: true });
    const memberBudgetLimits = { budgetDuration: patch.budgetDuration ?? null, ...memberLimits };
    const budget = setsLimits(memberLimits) ? newBudget(memberBudgetLimits, { ...authorship, id: ids.uuid() }) : null;
    const drafted = newTeam(
      { ...patch, memberBudgetId: budget?.id ?? null },
      { ...authorship, id: nullIfBlank(id) ?? ids.uuid() },
    );
    const complete = withCallbacks(scope, drafted, { patch, before: {} });
    if ((await stores.teams.find(complete.id)) !== null)
      throw new Conflict(`Team id = ${complete.id} already exists. Please use a different team id.`);
    const team = await startedOwner(scope.platform.earlierSpend, 'team', complete);
    await assertInOrganization(scope, team);
    const resolved = await resolveMembers(scope, members);
    const author = { userId: authorship.by, email: null, role: 'admin', limits: {} } as const;
    const isAuthorExcluded =
      caller.role === 'proxy_admin' && isSwitchedOn(configuration, 'disable_auto_add_proxy_admin_to_teams');
    const addsAuthor = !isAuthorExcluded && !resolved.some(({ user }) => user.id === authorship.by);
    const joining = addsAuthor ? [...resolved, ...(await resolveMembers(scope, [author]))] : resolved;
    if (budget !== null) await stores.budgets.add(budget);
    await addWithBudgets(scope, budget === null ? [] : [budget.id], () => stores.teams.add(team));
    await storeMembers(scope, team, joining);
    // Keys may have named the team before it existed.
    ownedKeys.evictOwner({ kind: 'teamId', id: team.id });
    return teamView(scope, team);
  },
});

/** A team by its id. */
export interface NamedTeam {
  readonly id: string;
}

/** Reads a team with its members and keys. Throws NotFound, and Forbidden when the caller may not read it. */
export const getTeam = operation({
  name: 'getTeam',
  access: teamReader,
  run: async (scope: Scope<TeamPlatform>, { id }: NamedTeam): Promise<TeamView> =>
    teamView(scope, await readableTeam(scope, id)),
});

export interface TeamQuery {
  readonly filter: TeamFilter;
  /** Only teams of this user; null for all teams, which only administrators may list. */
  readonly userId: string | null;
  readonly sort: TeamSort;
  readonly descending: boolean;
  /** Null lists all. */
  readonly limit: number | null;
  /** Number of rows to skip, or the place of the row after which the page begins. */
  readonly from: number | { readonly createdAt: Date; readonly id: string };
}

export interface TeamList<View = TeamView> {
  readonly teams: readonly View[];
  readonly totalCount: number;
  readonly hasMore: boolean;
}

/** The user whose teams the caller lists; null for all teams. Throws Forbidden. */
function listedUser(scope: Scope<TeamPlatform>, userId: string | null): string | null {
  const caller = callerOf(scope);
  if (isAnyAdmin(caller)) return userId;
  const own = nullIfBlank(caller.userId);
  if (own !== null && userId === own) return own;
  throw new Forbidden(
    'Only admin users can query all teams/other teams. Pass the user_id of your own user.',
    'team_list',
  );
}

/** A page of team rows. Administrators see all teams, other callers those of their user. Throws Forbidden. */
async function foundTeams(
  scope: Scope<TeamPlatform>,
  { filter, userId, limit, ...page }: TeamQuery,
): Promise<TeamList<Team>> {
  const { stores } = scope.platform;
  const user = listedUser(scope, nullIfBlank(userId));
  const visible = user === null ? filter : { ...filter, ids: await teamsOf(scope, user, filter.ids) };
  // One less than the maximum, so that `size + 1` is exact.
  const size = limit ?? Number.MAX_SAFE_INTEGER - 1;
  const [found, totalCount] = await Promise.all([
    stores.teams.list({ ...page, filter: visible, limit: size + 1 }),
    stores.teams.count(visible),
  ]);
  return { teams: found.slice(0, size), totalCount, hasMore: found.length > size };
}

/**
 * Lists teams with members and keys. Administrators see all teams, other callers those of their user. Throws Forbidden.
 */
export const listTeams = operation({
  name: 'listTeams',
  access: teamReader,
  async run(scope: Scope<TeamPlatform>, query: TeamQuery): Promise<TeamList> {
    const found = await foundTeams(scope, query);
    return { ...found, teams: await teamViews(scope, found.teams) };
  },
});

/** As `listTeams`, with the number of keys in place of the keys. */
export const listCountedTeams = operation({
  name: 'listCountedTeams',
  access: teamReader,
  async run(scope: Scope<TeamPlatform>, query: TeamQuery): Promise<TeamList<CountedTeam>> {
    const found = await foundTeams(scope, query);
    return { ...found, teams: await countedTeams(scope, found.teams) };
  },
});

/** Lists the teams that users may join by themselves, without those of the caller's user. */
export const listAvailableTeams = operation({
  name: 'listAvailableTeams',
  access: teamReader,
  async run(scope: Scope<TeamPlatform>, _input: undefined): Promise<readonly TeamView[]> {
    const { stores, availableTeams } = scope.platform;
    const teams = availableTeams.length === 0 ? [] : await stores.teams.findMany(availableTeams);
    const user = nullIfBlank(callerOf(scope).userId);
    const own = new Set(user === null ? [] : await teamsOf(scope, user, null));
    return teamViews(
      scope,
      teams.filter(({ id }) => !own.has(id)),
    );
  },
});

/** Ids of the teams of a user; with `ids`, only those of the list. */
async function teamsOf(
  { platform }: Scope<TeamPlatform>,
  userId: string,
  ids: readonly string[] | null,
): Promise<readonly string[]> {
  const members = await platform.stores.teamMembers.all({ teamIds: ids, userIds: [userId] });
  return members.map(({ teamId }) => teamId);
}

/** The view of a team after its change. Throws NotFound for a team that does not exist. */
async function changedTeam(
  scope: Scope<TeamPlatform>,
  id: string,
  changing: Promise<ChangedRow<Team> | null>,
): Promise<TeamView> {
  const done = await changing;
  if (done === null) throw unknownTeam(id);
  scope.platform.ownedKeys.evictOwner({ kind: 'teamId', id });
  return teamView(scope, done.after);
}

/**
 * Changes a team's default budget of members, or creates it with the window of the team. `current` is its id before.
 * Returns its id; null for none.
 */
async function savedMemberBudget(
  scope: Scope<TeamPlatform>,
  patch: LimitsPatch,
  { current, budgetDuration }: { readonly current: string | null } & Pick<Team, 'budgetDuration'>,
): Promise<string | null> {
  if (Object.keys(patch).length === 0) return current;
  const { stores, ids } = scope.platform;
  const authorship = authored(scope);
  const done =
    current === null
      ? null
      : await stores.budgets.change(current, (budget) => patchedBudget(budget, patch, authorship));
  if (done !== null) return done.after.id;
  const budget = newBudget({ budgetDuration, ...patch }, { ...authorship, id: ids.uuid() });
  await stores.budgets.add(budget);
  return budget.id;
}

/** The team with the callbacks of its metadata checked, and their secrets encrypted. Throws InvalidInput. */
function withCallbacks(
  { platform }: Scope<TeamLoggingPlatform>,
  team: Team,
  { patch, before }: { readonly patch: TeamPatch; readonly before: Team['metadata'] },
): Team {
  const sent = { ...patch.metadata, ...patch.metadataMembers };
  const seal = (text: string): string => platform.callbackSecrets.seal(text, team.id);
  return { ...team, metadata: storedCallbacks(team.metadata, { sent, before }, seal) };
}

const refuseRightsOfTeam = (): Forbidden =>
  new Forbidden('Only proxy admins change the models, budget and limits of a team.', 'user_owner');

/**
 * Changes a team. A team administrator may make only some changes, see `needsProxyAdmin`. Throws NotFound,
 * InvalidInput and Forbidden.
 */
export const updateTeam = operation({
  name: 'updateTeam',
  access: teamManager,
  async run(
    scope: Scope<TeamLoggingPlatform & Pick<SpendResetPlatform, 'records'>>,
    { id, patch, memberLimits }: NamedTeam & { readonly patch: TeamPatch; readonly memberLimits: LimitsPatch },
  ): Promise<TeamView> {
    const team = await managedTeam(scope, id);
    const isAdmin = callerOf(scope).role === 'proxy_admin';
    if (!isAdmin && needsProxyAdmin(team, patch)) throw refuseRightsOfTeam();
    // Waits until the records of earlier calls are committed, so that a new window does not count them.
    if (patch.budgetLimits?.length) await scope.platform.records.spendStored();
    const authorship = authored(scope);
    const guarded = allowedGuardrails(scope, patch, { team: team.metadata, before: team.metadata, ofTeam: true });
    const patched = patchedTeam(team, guarded, authorship);
    await assertInOrganization(scope, patched);
    const { budgetDuration } = patched;
    const changing = changeWithBudget(scope, scope.platform.stores.teams, team, {
      wanted: { budgetId: null, limits: memberLimits },
      budgetOf: ({ memberBudgetId }) => memberBudgetId,
      save: (current) => savedMemberBudget(scope, memberLimits, { current, budgetDuration }),
      change: (row, memberBudgetId) => {
        const permitted = isAdmin ? guarded : withKeptRightsOfTeam(row.metadata, guarded);
        const changed = patchedTeam(row, { ...permitted, memberBudgetId }, authorship);
        return withCallbacks(scope, changed, { patch, before: row.metadata });
      },
    });
    const view = await changedTeam(scope, id, changing);
    scope.platform.teamLogging.evict(id);
    return view;
  },
});

/** Blocks a team, so that its keys are refused, or unblocks it. Throws NotFound. */
export const blockTeam = operation({
  name: 'blockTeam',
  access: tenantAdmin,
  async run(scope: Scope<TeamPlatform>, { id, blocked }: NamedTeam & { readonly blocked: boolean }): Promise<TeamView> {
    const authorship = authored(scope);
    const changing = scope.platform.stores.teams.change(id, (team) => patchedTeam(team, { blocked }, authorship));
    return changedTeam(scope, id, changing);
  },
});

/** Adds models to the list of a team, then removes models from it. Throws NotFound. */
export const changeTeamModels = operation({
  name: 'changeTeamModels',
  access: tenantAdmin,
  async run(
    scope: Scope<TeamPlatform>,
    { id, add, remove }: NamedTeam & { readonly add: readonly string[]; readonly remove: readonly string[] },
  ): Promise<TeamView> {
    const authorship = authored(scope);
    const changing = scope.platform.stores.teams.change(id, (team) => {
      const models = [...new Set([...team.models, ...add])].filter((model) => !remove.includes(model));
      return patchedTeam(team, { models }, authorship);
    });
    return changedTeam(scope, id, changing);
  },
});
