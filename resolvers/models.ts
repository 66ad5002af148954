import { withConfiguredPrices } from '../src/domain/deployments/priced-row.ts';
import { visibilityOf } from '../src/domain/caller.ts';
import { type ModelInfo, modelInfos, type ModelSort, type OtherTeams } from '../src/domain/deployments/model-info.ts';
import { mayCallSome, type NamedModel, namedModel, namedModels } from '../src/domain/deployments/model-names.ts';
import { type FallbackType, listsFor } from '../src/domain/fallbacks/fallback.ts';
import { deploymentsFor } from '../src/domain/deployments/team-models.ts';
import { Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { allowsModel } from '../src/domain/keys/virtual-key.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { Team } from '../src/domain/teams/team.ts';
import { type ModelAccess, modelAccess } from './operation/model-access.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DeploymentPlatform } from './operation/model-platform.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { readableTeam } from './operation/team-views.ts';

/** Deployments, and teams with their models. */
type ModelInfoPlatform = DeploymentPlatform & TeamPlatform;

/** Filter of models. */
interface ModelListQuery {
  readonly withWildcards: boolean;
  /** Team whose models to list; null for those of the caller's key. */
  readonly teamId: string | null;
  /** Lists model access groups in place of models (`only`) or after them (`also`); null lists none. */
  readonly groups?: 'only' | 'also' | null;
  /** Kind of fallbacks to list with each model; null lists none. */
  readonly fallbackType?: FallbackType | null;
}

/**
 * Models that the caller's key may call, by public name, in configured order, and aliases that are not hidden. Access
 * groups are listed on request.
 */
export const listModels = operation({
  name: 'listModels',
  access: anyKey,
  run(
    scope: Scope<DeploymentPlatform>,
    {
      withWildcards,
      groups = null,
      teamId = null,
    }: Pick<ModelListQuery, 'withWildcards' | 'groups'> & Partial<Pick<ModelListQuery, 'teamId'>>,
  ): readonly NamedModel[] {
    const { gateway, catalog, fallbacks } = scope.platform;
    const { key } = callerOf(scope);
    const { aliases } = fallbacks.policy();
    const listedGroups = groups === null ? [] : groupNames(scope).map((name) => ({ name, entry: null }));
    if (groups === 'only') return listedGroups;
    // A key contains the id of its team.
    const team = teamId === null ? key : { teamId };
    const models = namedModels(gateway.deployments(), catalog.current(), { key, withWildcards, team, aliases });
    return [...models, ...listedGroups];
  },
});

/** Model access groups with a model that the caller's key may call. */
const groupNames = (scope: Scope<DeploymentPlatform>): readonly string[] => {
  const { key } = callerOf(scope);
  const deployments = deploymentsFor(key, scope.platform.gateway.deployments());
  const callable = deployments.filter(({ modelGroup, teamId }) => teamId === undefined && mayCallSome(key, modelGroup));
  return [...new Set(callable.flatMap(({ accessGroups = [] }) => accessGroups))];
};

/** A model and its fallbacks, which are empty unless the request asks for them. */
export interface ModelWithFallbacks extends NamedModel {
  readonly fallbacks: readonly string[];
}

/** Adds to each model the fallbacks that the caller's key may call; none without a kind of fallbacks. */
function withFallbacks(
  scope: Scope<DeploymentPlatform>,
  models: readonly NamedModel[],
  type: FallbackType | null,
): readonly ModelWithFallbacks[] {
  const lists = type === null ? null : listsFor(scope.platform.fallbacks.policy().fallbacks, type);
  const { key } = callerOf(scope);
  return models.map((model) => ({
    ...model,
    fallbacks: (lists?.get(model.name) ?? []).filter((name) => mayCallSome(key, name)),
  }));
}

/**
 * As `listModels`, with fallbacks; with `teamId`, only models that the keys of the team may call. Throws NotFound for
 * an unknown team, Forbidden, and BudgetExceeded when the caller's key has used up its own budget.
 */
export const listModelsOf = operation({
  name: 'listModelsOf',
  access: anyKey,
  async run(
    scope: Scope<DeploymentPlatform>,
    { teamId, fallbackType = null, ...query }: ModelListQuery,
  ): Promise<readonly ModelWithFallbacks[]> {
    const caller = callerOf(scope);
    await scope.platform.gateway.admitKey(caller);
    if (teamId === null || teamId === caller.teamId)
      return withFallbacks(scope, listModels(scope, query), fallbackType);
    if (visibilityOf(caller).kind !== 'all')
      throw new Forbidden('Only proxy admins can see the models of other teams.');
    const team = await scope.platform.stores.teams.find(teamId);
    if (team === null) throw new NotFound('listed model', teamId, `Team not found, passed team_id=${teamId}`);
    const { deployments } = scope.platform;
    const models = listModels(scope, { ...query, teamId });
    const ofTeam = models.filter(
      ({ name }) =>
        deployments.isTeamModel(teamId, name) || allowsModel(team.models, name, deployments.accessGroupsOf(name)),
    );
    return withFallbacks(scope, ofTeam, fallbackType);
  },
});

/** One model by its public name. Throws NotFound when it does not exist or the caller's key may not call it. */
export const getModel = operation({
  name: 'getModel',
  access: anyKey,
  run(scope: Scope<DeploymentPlatform>, { id }: { readonly id: string }): NamedModel {
    const { gateway, catalog, fallbacks } = scope.platform;
    const { key } = callerOf(scope);
    const { aliases } = fallbacks.policy();
    const found = namedModel(gateway.deployments(), catalog.current(), { key, name: id, aliases });
    if (found !== null) return found;
    throw new NotFound('listed model', id, `The model \`${id}\` does not exist or you do not have access to it.`);
  },
});

/** Facts of a deployment, listed under one of its public names. */
export interface ModelFacts extends ModelInfo {
  /** Whether the caller sees its address; administrators only. */
  readonly seesAddress: boolean;
  /** Absent unless requested. */
  readonly access?: ModelAccess;
}

/** Filter of listed deployments; null and false match all. */
export interface ModelInfoFilter {
  readonly deploymentId: string | null;
  readonly group: string | null;
  /** Excludes failing deployments. */
  readonly onlyHealthy: boolean;
  /** Only what the keys of this team may call. */
  readonly teamId?: string | null;
  /** Also models of the teams of the caller's user. */
  readonly withTeams?: boolean;
  /** Only what the caller's key may call, for administrators too. */
  readonly onlyCallable?: boolean;
  /** Adds how the caller's user may call each model. */
  readonly withAccess?: boolean;
}

/** Further teams whose models the caller sees: all for administrators; for others those of the user, when requested. */
async function otherTeams(scope: Scope<ModelInfoPlatform>, withTeams: boolean): Promise<OtherTeams> {
  const caller = callerOf(scope);
  if (visibilityOf(caller).kind === 'all') return 'all';
  const user = withTeams ? nullIfBlank(caller.userId) : null;
  if (user === null) return [];
  const members = await scope.platform.stores.teamMembers.all({ teamIds: null, userIds: [user] });
  return members.map(({ teamId }) => teamId);
}

/**
 * Whether the keys of a team may call a deployment. Either it belongs to the team, or it belongs to no team and the
 * model list of the team allows it. A model of the team replaces models without a team that have the same name.
 */
function isOfTeam({ platform }: Scope<ModelInfoPlatform>, team: Team, { name, deployment }: ModelInfo): boolean {
  const { deployments } = platform;
  if (deployment.teamId !== undefined) return deployment.teamId === team.id;
  if (deployments.isTeamModel(team.id, name)) return false;
  return allowsModel(team.models, name, deployments.accessGroupsOf(name));
}

/**
 * Facts of the deployments that the caller's key may call, and of those that `otherTeams` adds. With `teamId`, only
 * those that the keys of that team may call. Throws InvalidInput when no such deployment has the id, NotFound for an
 * unknown team, and Forbidden for a team that the caller may not read.
 */
export const listModelInfo = operation({
  name: 'listModelInfo',
  access: anyKey,
  async run(
    scope: Scope<ModelInfoPlatform>,
    { deploymentId, group, onlyHealthy, onlyCallable = false, withAccess = false, ...teamFilter }: ModelInfoFilter,
  ): Promise<readonly ModelFacts[]> {
    const { teamId = null, withTeams = false } = teamFilter;
    const { gateway, deployments, catalog } = scope.platform;
    const caller = callerOf(scope);
    const seesAddress = visibilityOf(caller).kind === 'all';
    const team = teamId === null ? null : await readableTeam(scope, teamId);
    const others = onlyCallable ? [] : await otherTeams(scope, withTeams);
    const teams = team === null || others === 'all' ? others : [...others, team.id];
    const named = modelInfos(deployments.all(), catalog.current(), caller.key, teams).filter(
      (one) =>
        (deploymentId === null || one.deployment.id === deploymentId) &&
        (group === null || one.name === group) &&
        (team === null || isOfTeam(scope, team, one)),
    );
    if (deploymentId !== null && named.length === 0)
      throw new InvalidInput(`Model id = ${deploymentId} not found on litellm proxy`);
    const isFailing = ({ deployment }: ModelInfo): boolean => gateway.healthOf(deployment.id).state === 'failing';
    const shown = named.filter((one) => !onlyHealthy || !isFailing(one)).map((one) => ({ ...one, seesAddress }));
    if (!withAccess) return shown;
    const accessTo = await modelAccess(scope);
    return shown.map((one) => ({ ...one, access: accessTo(one) }));
  },
});

/** Query for one page of the facts of deployments. All conditions that are not null must match. */
export interface ModelPageQuery {
  readonly page: number;
  readonly size: number;
  readonly name: string | null;
  readonly deploymentId: string | null;
  /** Text that the name contains; letter case is ignored. */
  readonly search: string | null;
  readonly accessGroup: string | null;
  readonly onlyWildcards: boolean;
  /** Only those that the caller's user stored. */
  readonly onlyOwn: boolean;
  readonly teamId: string | null;
  readonly withTeams: boolean;
  readonly sort: ModelSort | null;
  readonly descending: boolean;
}

/** A page, and the number of facts on all pages. */
export interface ModelPage {
  readonly models: readonly ModelFacts[];
  readonly total: number;
  readonly query: ModelPageQuery;
}

/** A page of the facts that `listModelInfo` lists. */
export const listModelPage = operation({
  name: 'listModelPage',
  access: anyKey,
  async run(scope: Scope<ModelInfoPlatform>, query: ModelPageQuery): Promise<ModelPage> {
    const { page, size, name, deploymentId, accessGroup, onlyWildcards, onlyOwn, teamId, withTeams } = query;
    const search = query.search?.toLowerCase() ?? '';
    const { userId } = callerOf(scope);
    const listed = await listModelInfo(scope, {
      deploymentId: null,
      group: name,
      onlyHealthy: false,
      teamId,
      withTeams,
    });
    const found = listed.filter(
      (one) =>
        (deploymentId === null || one.deployment.id === deploymentId) &&
        one.name.toLowerCase().includes(search) &&
        (accessGroup === null || one.deployment.accessGroups?.includes(accessGroup) === true) &&
        (!onlyWildcards || one.name.includes('*')) &&
        (!onlyOwn || (userId !== null && one.stored?.createdBy === userId)),
    );
    const from = (page - 1) * size;
    return { models: sorted(found, query).slice(from, from + size), total: found.length, query };
  },
});

/** Sum of the prices of an input and an output token, in USD; null when it is unknown or zero. */
function tokenCost({ entry, deployment }: ModelInfo): number | null {
  const row = withConfiguredPrices(entry?.row, deployment.priceOverrides);
  const cost = Number(row['input_cost_per_token'] ?? 0) + Number(row['output_cost_per_token'] ?? 0);
  return cost > 0 ? cost : null;
}

/** Sorts facts. Facts without a value to sort by are last in both directions. */
function sorted(models: readonly ModelFacts[], { sort, descending }: ModelPageQuery): readonly ModelFacts[] {
  if (sort === null) return models;
  const rankOf = (one: ModelFacts): string | number | null => {
    switch (sort) {
      case 'model_name':
        return one.name.toLowerCase();
      case 'created_at':
        return one.stored?.createdAt.getTime() ?? null;
      case 'updated_at':
        return one.stored?.updatedAt.getTime() ?? null;
      case 'costs':
        return tokenCost(one);
      case 'status':
        // Models of the configuration file, then stored ones.
        return one.stored === null ? 0 : 1;
    }
  };
  const ranked = models.map((one) => ({ one, rank: rankOf(one) }));
  const direction = descending ? -1 : 1;
  return ranked
    .toSorted((left, right) => {
      if (left.rank === null || right.rank === null) return Number(left.rank === null) - Number(right.rank === null);
      if (left.rank === right.rank) return 0;
      return left.rank < right.rank ? -direction : direction;
    })
    .map(({ one }) => one);
}
