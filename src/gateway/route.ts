import type { Provider, Deployment } from '../domain/chat/provider.ts';
import { InvalidInput } from '../domain/errors.ts';

/** A deployment chosen for a call, and who speaks for it. */
interface Route {
  /** With its upstream model filled in where the deployment is a wildcard. */
  readonly deployment: Deployment;
  readonly provider: Provider;
}

interface Group {
  readonly routes: readonly Route[];
  next: number;
}

/** Finds the deployment for a model name; null when no group answers to it. */
export type Router = (model: string) => Route | null;

/**
 * Groups the deployments by their public name. Exact names come before wildcards (`openai/*`), longer
 * wildcards before shorter ones; the deployments of a group take turns. A provider we have no protocol for
 * is spoken to in chat-completions when the deployment says where it is. Throws InvalidInput for one that
 * does not.
 */
export function createRouter(deployments: readonly Deployment[], providers: readonly Provider[]): Router {
  const groups = new Map<string, Group>();
  for (const [name, members] of Map.groupBy(deployments, ({ modelGroup }) => modelGroup)) {
    const routes = members.map((deployment) => ({ deployment, provider: providerFor(deployment, providers) }));
    groups.set(name, { routes, next: 0 });
  }
  const wildcards = [...groups.keys()]
    .filter((name) => name.endsWith('*'))
    .toSorted((left, right) => right.length - left.length);

  return (model) => {
    const exact = groups.get(model);
    if (exact) return takeTurn(exact);
    const pattern = wildcards.find((name) => model.startsWith(name.slice(0, -1)));
    const group = pattern === undefined ? undefined : groups.get(pattern);
    const route = group && takeTurn(group);
    if (!route || pattern === undefined) return null;
    const matched = model.slice(pattern.length - 1);
    const upstreamModel = route.deployment.upstreamModel.replace('*', () => matched);
    return { ...route, deployment: { ...route.deployment, upstreamModel } };
  };
}

function takeTurn(group: Group): Route | null {
  const route = group.routes[group.next % group.routes.length];
  group.next = (group.next + 1) % group.routes.length;
  return route ?? null;
}

function providerFor(deployment: Deployment, providers: readonly Provider[]): Provider {
  const known = providers.find(({ name }) => name === deployment.provider);
  const spokenTo = known ?? (deployment.apiBase === null ? undefined : providers.find(({ name }) => name === 'openai'));
  if (spokenTo) return spokenTo;
  const message = `The model "${deployment.modelGroup}" names the provider "${deployment.provider}", which is not known. Set its api_base if it speaks chat-completions.`;
  throw new InvalidInput(message);
}
