import { AUTO_ROUTER_PROVIDER } from '../../domain/auto-routers/auto-router.ts';
import { type Deployment, deploymentsById, type Provider } from '../../domain/chat/provider.ts';
import { type DomainError, InvalidInput, Unavailable, UnknownModel } from '../../domain/errors.ts';
import type { Endpoint } from '../../domain/inference/endpoint.ts';
import { isSameUpstream } from '../../domain/deployments/same-upstream.ts';
import type { DeploymentSource } from '../../domain/deployments/deployment-source.ts';

/** Deployment selected for a call, and its provider adapter. */
export interface Route {
  /** For a wildcard, the upstream model has the matched name. */
  readonly deployment: Deployment;
  readonly provider: Provider;
  /** Why no deployment of the model may be called. A call to this route fails with it. Absent for a usable route. */
  readonly refusal?: DomainError;
}

interface Group {
  readonly routes: readonly Route[];
  /** Index of the route that is selected next. */
  next: number;
}

/** Replaces an alias by its model. Returns other names unchanged. */
type ModelNames = (name: string) => string;

export interface Router {
  /**
   * Selects the deployment for a model name; null when no group matches. With `deploymentId`, selects that deployment
   * or another one of the same upstream account. Throws InvalidInput when the model has neither.
   */
  (model: string, deploymentId?: string): Route | null;
  /** The deployments of a model name that may be selected. Does not advance the round robin. */
  all(model: string): readonly Route[];
  /** The deployment with an id that is not also a model name; null when there is none. */
  byId(id: string): Route | null;
}

/** A router of common model names. `byId` finds all deployments, including those of teams. */
export interface TeamRouter extends Router {
  /**
   * The router for keys of a team, or for keys without one. A name selects a model of the team before a common one, and
   * `byId` finds no deployment of another team. Null when no team has models: this router serves all keys then.
   */
  forTeam(teamId: string | null): Router | null;
}

/**
 * Groups the deployments by public name. Exact names match before wildcards (`openai/*`), longer wildcards before
 * shorter ones. A group selects its deployments round robin. An unknown provider with an `api_base` uses the
 * chat-completions protocol. `targetOf` replaces aliases. Throws InvalidInput for an unknown provider without an
 * `api_base`.
 */
export function createRouter(
  deployments: readonly Deployment[],
  providers: readonly Provider[],
  targetOf: ModelNames = (name) => name,
): TeamRouter {
  const byId = deploymentsById(deployments);
  const groupsOf = (members: readonly Deployment[]): ReadonlyMap<string, Group> =>
    new Map(
      [...Map.groupBy(members, ({ modelGroup }) => modelGroup)].map(([name, group]) => [
        name,
        groupFor(group, providers),
      ]),
    );
  const common = deployments.filter(({ teamId }) => teamId === undefined);
  const ofTeams = deployments.filter(({ teamId }) => teamId !== undefined);
  const commonGroups = groupsOf(common);
  const router = routerOver(commonGroups, byId, { providers, targetOf });
  if (ofTeams.length === 0) return Object.assign(router, { forTeam: () => null });
  const commonRouter = routerOver(commonGroups, deploymentsById(common), { providers, targetOf });
  const teams = new Map(
    [...Map.groupBy(ofTeams, ({ teamId }) => teamId)].map(([teamId, own]) => {
      // Common groups have one round robin for all teams.
      const groups = new Map([...commonGroups, ...groupsOf(own)]);
      return [teamId, routerOver(groups, deploymentsById([...common, ...own]), { providers, targetOf })];
    }),
  );
  return Object.assign(router, { forTeam: (teamId: string | null) => teams.get(teamId ?? undefined) ?? commonRouter });
}

/** A router over the current deployments, rebuilt when their list is replaced. `targetOf` is called for each name. */
export function createLiveRouter(
  source: Pick<DeploymentSource, 'current'>,
  providers: readonly Provider[],
  targetOf?: ModelNames,
): TeamRouter {
  let routed = source.current();
  let router = createRouter(routed, providers, targetOf);
  const live = (): TeamRouter => {
    const current = source.current();
    if (current !== routed) {
      router = createRouter(current, providers, targetOf);
      routed = current;
    }
    return router;
  };
  return Object.assign((model: string, deploymentId?: string) => live()(model, deploymentId), {
    all: (model: string) => live().all(model),
    byId: (id: string) => live().byId(id),
    forTeam: (teamId: string | null) => live().forTeam(teamId),
  });
}

/**
 * A router with the routes of each model that `permits` allows. The order of selection stays: a selected route that is
 * not allowed is skipped. `permits` returns null for a model whose routes are all allowed.
 */
export function filteredRouter(
  routeOf: Router,
  permits: (model: string) => ((route: Route) => boolean) | null,
): Router {
  const all = (model: string): readonly Route[] => {
    const permitted = permits(model);
    return permitted === null ? routeOf.all(model) : routeOf.all(model).filter(permitted);
  };
  const select = (model: string, deploymentId?: string): Route | null => {
    const permitted = permits(model);
    let found = routeOf(model, deploymentId);
    if (permitted === null || found === null || permitted(found)) return found;
    if (deploymentId !== undefined) return null;
    const mostSelections = routeOf.all(model).length;
    for (let selections = 1; selections < mostSelections; selections += 1) {
      found = routeOf(model);
      if (found !== null && permitted(found)) return found;
    }
    // `routeOf` may skip routes itself, so the loop may not have seen every route.
    return all(model)[0] ?? null;
  };
  const byId = (id: string): Route | null => {
    const found = routeOf.byId(id);
    if (found === null) return null;
    const permitted = permits(found.deployment.modelGroup);
    return permitted === null || permitted(found) ? found : null;
  };
  return Object.assign(select, { all, byId });
}

/** A group of deployments. The round robin skips those that cannot be called, unless none can be called. */
function groupFor(members: readonly Deployment[], providers: readonly Provider[]): Group {
  const callable = members.filter((one) => one.misconfigured === undefined);
  const routes = (callable.length > 0 ? callable : members).map((deployment) => ({
    deployment,
    provider: providerFor(deployment, providers),
  }));
  return { routes, next: 0 };
}

function routerOver(
  groups: ReadonlyMap<string, Group>,
  byId: ReadonlyMap<string, Deployment>,
  { providers, targetOf }: { readonly providers: readonly Provider[]; readonly targetOf: ModelNames },
): Router {
  const wildcards = [...groups.keys()]
    .filter((name) => name.endsWith('*'))
    .toSorted((left, right) => right.length - left.length);

  const find = (name: string): readonly [Group, matched: string | null] | null => {
    const model = targetOf(name);
    const exact = groups.get(model);
    if (exact) return [exact, null];
    const pattern = wildcards.find((one) => model.startsWith(one.slice(0, -1)));
    const group = pattern === undefined ? undefined : groups.get(pattern);
    return group === undefined || pattern === undefined ? null : [group, model.slice(pattern.length - 1)];
  };
  /**
   * Route to a deployment, or to another one of the same upstream account. Throws InvalidInput when there is neither.
   */
  const pinned = ({ routes }: Group, model: string, deploymentId: string): Route => {
    const named = byId.get(deploymentId);
    const found =
      routes.find(({ deployment }) => deployment.id === named?.id) ??
      routes.find(({ deployment }) => named !== undefined && isSameUpstream(deployment, named)) ??
      // A router selects the deployment among its models.
      routes.find(({ deployment }) => deployment.autoRouter !== undefined);
    if (found !== undefined) return found;
    const message = `The object that this request refers to is stored at another provider than that of the model "${model}".`;
    throw new InvalidInput(message, [{ path: ['body', 'model'], rule: 'elsewhere', message }]);
  };
  const route = (model: string, deploymentId?: string): Route | null => {
    const found = find(model);
    if (found === null) return null;
    const [group, matched] = found;
    const selected = deploymentId === undefined ? nextRoute(group) : pinned(group, model, deploymentId);
    return selected && withMatchedName(selected, matched);
  };
  const all = (model: string): readonly Route[] => {
    const [group, matched] = find(model) ?? [{ routes: [] }, null];
    return group.routes.map((one) => withMatchedName(one, matched));
  };
  const withId = (id: string): Route | null => {
    const deployment = find(id) === null ? byId.get(id) : undefined;
    return deployment === undefined ? null : { deployment, provider: providerFor(deployment, providers) };
  };
  return Object.assign(route, { all, byId: withId });
}

/**
 * Replaces the wildcard of the upstream model by the matched text. `matched` is null for an exact name: nothing
 * changes.
 */
function withMatchedName(route: Route, matched: string | null): Route {
  if (matched === null) return route;
  const upstreamModel = route.deployment.upstreamModel.replace('*', () => matched);
  return { ...route, deployment: { ...route.deployment, upstreamModel } };
}

function nextRoute(group: Group): Route | null {
  const route = group.routes[group.next % group.routes.length];
  group.next = (group.next + 1) % group.routes.length;
  return route ?? null;
}

/** Provider adapter for a deployment. Throws InvalidInput for an unknown provider without an `api_base`. */
export function providerFor(deployment: Deployment, providers: readonly Provider[]): Provider {
  if (deployment.misconfigured !== undefined) return misconfiguredProvider;
  if (deployment.autoRouter !== undefined) return routerProvider;
  const adapterOf = (provider: string): Provider | undefined => providers.find(({ name }) => name === provider);
  const adapter = adapterOf(deployment.provider);
  if (adapter !== undefined) return adapter;
  const compatible = deployment.apiBase === null ? undefined : adapterOf('openai');
  if (compatible !== undefined) return compatible;
  const message = `The model "${deployment.modelGroup}" names the provider "${deployment.provider}", which is not known. Set its api_base if it accepts chat completions.`;
  throw new InvalidInput(message);
}

/** Mock deployment: no upstream call, no cost, no effect on the deployment's health. */
export function mockOf({ deployment: mocked }: Route, providers: readonly Provider[]): Route {
  const { misconfigured: _fault, ...deployment } = mocked;
  const mock: Deployment = {
    ...deployment,
    id: 'mock',
    provider: 'demo',
    upstreamModel: 'mock',
    apiBase: null,
    apiKey: null,
    options: {},
    secrets: {},
    dropParams: true,
    priceOverrides: { input_cost_per_token: 0, output_cost_per_token: 0 },
    baseModel: null,
  };
  return { deployment: mock, provider: providerFor(mock, providers) };
}

/** Error for an unknown model. `path` is the request's path; `as` is the part of the request that names the model. */
export function unknownModel(path: string, model: string, as: UnknownModel['as'] = 'model'): UnknownModel {
  const message = `${path}: Invalid model name passed in model=${model}. Call \`/v1/models\` to view available models for your key.`;
  return new UnknownModel(model, message, as);
}

/** Part of the request that names the model, for the error of an unknown model. */
export function namedIn({ medium, outputs, operation }: Endpoint): UnknownModel['as'] {
  if (medium !== undefined) return medium;
  if (outputs === 'speech') return 'speech';
  return operation === 'rerank' ? 'rerank' : 'model';
}

/** Error for calls to a deployment that cannot be called. A retry does not help. */
const misconfigured = ({ modelGroup }: Pick<Deployment, 'modelGroup'>): Unavailable =>
  new Unavailable(
    `The model "${modelGroup}" is misconfigured and cannot be called. Administrators find the reason at /health.`,
    null,
  );

/** Error for a router where a model with an upstream is needed, such as a fallback or a tier. */
const noUpstream = ({ modelGroup }: Pick<Deployment, 'modelGroup'>): InvalidInput =>
  new InvalidInput(`The model "${modelGroup}" is a router. It cannot be called in place of a model.`);

/** Provider of a router: its calls are sent to the models that it selects. */
const routerProvider: Provider = {
  name: AUTO_ROUTER_PROVIDER,
  send: (deployment) => Promise.reject(noUpstream(deployment)),
};

/** Provider of a deployment that cannot be called: it refuses every call. */
const misconfiguredProvider: Provider = {
  name: 'misconfigured',
  send: (deployment) => Promise.reject(misconfigured(deployment)),
  countTokens: (deployment) => Promise.reject(misconfigured(deployment)),
  preview: (deployment) => Promise.reject(misconfigured(deployment)),
  openRealtime: (deployment) => Promise.reject(misconfigured(deployment)),
};
