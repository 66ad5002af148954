import { type PassThroughEndpoint, servedPath } from './endpoint.ts';

/** Result of the look-up of a path and a method. */
export type FoundEndpoint =
  | { readonly kind: 'none' }
  /** The path is served for these methods only. */
  | { readonly kind: 'method'; readonly allowed: readonly string[] }
  /** The path without its last slash is served. */
  | { readonly kind: 'slash'; readonly path: string }
  /** `subpath` is the rest of the path as it was sent, without a leading slash; null for the path itself. */
  | { readonly kind: 'endpoint'; readonly endpoint: PassThroughEndpoint; readonly subpath: string | null };

/** Methods that an endpoint without a list of methods serves. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const NONE: FoundEndpoint = { kind: 'none' };

/**
 * Finds the endpoint of a request: of several endpoints with its path, the first in the list that serves its method.
 */
export interface PassThroughRoutes {
  /** `path` is as it was sent, without the query. */
  find(method: string, path: string): FoundEndpoint;
}

/** Routes of a list of endpoints. Exact paths come before prefixes, longer prefixes before shorter ones. */
export function passThroughRoutesOf(endpoints: readonly PassThroughEndpoint[]): PassThroughRoutes {
  // Endpoints whose stored headers cannot be decrypted have null.
  const usable = endpoints.filter(({ headers }) => headers !== null);
  const exact = Map.groupBy(usable, ({ path }) => servedPath(path));
  const prefixes = [...exact]
    .map(([path, all]) => ({ start: path.endsWith('/') ? path : `${path}/`, all: all.filter(withSubpaths) }))
    .filter(({ all }) => all.length > 0)
    .toSorted((one, other) => other.start.length - one.start.length);

  return {
    find(method, path) {
      if (exact.size === 0) return NONE;
      const named = exact.get(path);
      if (named !== undefined) return endpointAmong(named, method, null);
      const below = prefixes.find(({ start }) => path.startsWith(start));
      if (below !== undefined && path.length > below.start.length)
        return endpointAmong(below.all, method, path.slice(below.start.length));
      const bare = path.endsWith('/') ? path.slice(0, -1) : '';
      return exact.has(bare) ? { kind: 'slash', path: bare } : NONE;
    },
  };
}

const withSubpaths = ({ includeSubpath }: PassThroughEndpoint): boolean => includeSubpath;

const methodsOf = ({ methods }: PassThroughEndpoint): readonly string[] =>
  methods === null ? METHODS : METHODS.filter((method) => methods.includes(method));

function endpointAmong(
  endpoints: readonly PassThroughEndpoint[],
  method: string,
  subpath: string | null,
): FoundEndpoint {
  const endpoint = endpoints.find((one) => methodsOf(one).includes(method));
  if (endpoint !== undefined) return { kind: 'endpoint', endpoint, subpath };
  return { kind: 'method', allowed: METHODS.filter((one) => endpoints.some((each) => methodsOf(each).includes(one))) };
}
