import { type Deployment, deploymentsById, type Provider } from '../domain/chat/provider.ts';
import { InvalidInput, NotFound } from '../domain/errors.ts';

/** A deployment chosen for a call, and who speaks for it. */
export interface Route {
  /** With its upstream model filled in where the deployment is a wildcard. */
  readonly deployment: Deployment;
  readonly provider: Provider;
}

interface Group {
  readonly routes: readonly Route[];
  next: number;
}

export interface Router {
  /**
   * Finds the deployment for a model name; null when no group answers to it. Where a deployment is named, it is that one,
   * or another with the same account at the same upstream. Throws InvalidInput when the model has neither.
   */
  (model: string, deploymentId?: string): Route | null;
  /** Every deployment that answers to a model name; takes no turn. */
  all(model: string): readonly Route[];
  /** The deployment of an id, where that is not a model's name; null when there is none. */
  byId(id: string): Route | null;
}

/**
 * Groups the deployments by their public name. Exact names come before wildcards (`openai/*`), longer
 * wildcards before shorter ones; the deployments of a group take turns. A provider we have no protocol for
 * is spoken to in chat-completions when the deployment says where it is. Throws InvalidInput for one that
 * does not.
 */
export function createRouter(deployments: readonly Deployment[], providers: readonly Provider[]): Router {
  const byId = deploymentsById(deployments);
  const groups = new Map<string, Group>();
  for (const [name, members] of Map.groupBy(deployments, ({ modelGroup }) => modelGroup)) {
    const routes = members.map((deployment) => ({ deployment, provider: providerFor(deployment, providers) }));
    groups.set(name, { routes, next: 0 });
  }
  const wildcards = [...groups.keys()]
    .filter((name) => name.endsWith('*'))
    .toSorted((left, right) => right.length - left.length);

  const find = (model: string): readonly [Group, matched: string | null] | null => {
    const exact = groups.get(model);
    if (exact) return [exact, null];
    const pattern = wildcards.find((name) => model.startsWith(name.slice(0, -1)));
    const group = pattern === undefined ? undefined : groups.get(pattern);
    return group === undefined || pattern === undefined ? null : [group, model.slice(pattern.length - 1)];
  };
  /** The route to a deployment, or to one that sees what that one keeps. Throws InvalidInput when there is neither. */
  const named = ({ routes }: Group, model: string, deploymentId: string): Route => {
    const meant = byId.get(deploymentId);
    const found =
      routes.find(({ deployment }) => deployment.id === meant?.id) ??
      routes.find(({ deployment }) => meant !== undefined && isSameUpstream(deployment, meant));
    if (found !== undefined) return found;
    const message = `What this request refers to is kept by another provider than that of the model "${model}".`;
    throw new InvalidInput(message, [{ path: ['body', 'model'], rule: 'elsewhere', message }]);
  };
  const route = (model: string, deploymentId?: string): Route | null => {
    const found = find(model);
    if (found === null) return null;
    const [group, matched] = found;
    const taken = deploymentId === undefined ? takeTurn(group) : named(group, model, deploymentId);
    return taken && filled(taken, matched);
  };
  const all = (model: string): readonly Route[] => {
    const [group, matched] = find(model) ?? [{ routes: [] }, null];
    return group.routes.map((one) => filled(one, matched));
  };
  const withId = (id: string): Route | null => {
    const deployment = find(id) === null ? byId.get(id) : undefined;
    return deployment === undefined ? null : { deployment, provider: providerFor(deployment, providers) };
  };
  return Object.assign(route, { all, byId: withId });
}

/** With what a wildcard stood for in place of it; null where there was none. */
function filled(route: Route, matched: string | null): Route {
  if (matched === null) return route;
  const upstreamModel = route.deployment.upstreamModel.replace('*', () => matched);
  return { ...route, deployment: { ...route.deployment, upstreamModel } };
}

function takeTurn(group: Group): Route | null {
  const route = group.routes[group.next % group.routes.length];
  group.next = (group.next + 1) % group.routes.length;
  return route ?? null;
}

/** Whether two deployments are one account of one upstream: what it keeps for one is there for the other. */
export const isSameUpstream = (left: Deployment, right: Deployment): boolean =>
  left.provider === right.provider &&
  left.apiBase === right.apiBase &&
  left.apiKey?.reveal() === right.apiKey?.reveal() &&
  JSON.stringify(left.options) === JSON.stringify(right.options);

/** Who speaks for a deployment. Throws InvalidInput when nobody does. */
export function providerFor(deployment: Deployment, providers: readonly Provider[]): Provider {
  const known = providers.find(({ name }) => name === deployment.provider);
  const spokenTo = known ?? (deployment.apiBase === null ? undefined : providers.find(({ name }) => name === 'openai'));
  if (spokenTo) return spokenTo;
  const message = `The model "${deployment.modelGroup}" names the provider "${deployment.provider}", which is not known. Set its api_base if it speaks chat-completions.`;
  throw new InvalidInput(message);
}

/** Where a made-up answer comes from, at no price; the deployment is not asked, and nothing is told of its health. */
export function mockOf({ deployment }: Route, providers: readonly Provider[]): Route {
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

/** A model nobody answers to; `path` is where it was asked for. */
export function unknownModel(path: string, model: string): NotFound {
  const message = `${path}: Invalid model name passed in model=${model}. Call \`/v1/models\` to view available models for your key.`;
  return new NotFound('model', model, message);
}
