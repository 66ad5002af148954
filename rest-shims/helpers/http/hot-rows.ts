import type { FoundEndpoint, PassThroughRoutes } from '../../../src/domain/pass-through/routes.ts';
import { endpointRow } from '../model-call/pass-through.ts';
import type { RouteRow } from './route.ts';

/** A path of a row. Of several registrations that match, the first counts. */
export interface Registration {
  readonly path: string;
  readonly row: RouteRow;
}

/**
 * Paths of POST requests that the fast path serves. `size` is the number of all registered paths; only whether it is 0
 * matters.
 */
export type HotPaths = Pick<ReadonlySet<string>, 'has' | 'size'>;

/**
 * A path that a row matches. `hot` is the row if the fast path can serve it, else null. `isReplaceable`: only rows
 * whose first segment is a pattern match, so that a configured path precedes them. Null if no row matches.
 */
type PathMatch = { readonly hot: RouteRow | null; readonly isReplaceable: boolean } | null;

/** Capacity of the cache of paths and their rows. */
const MAX_CACHED_PATHS = 1_000;

/**
 * Paths whose segments have plain characters only and are neither empty nor `.` nor `..`. Koa serves all other paths,
 * unless they are registered exactly.
 */
const UNENCODED_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.:~-]+)+$/;

/** Paths at which a configured pass-through path precedes the row. */
export const REPLACEABLE: ReadonlySet<string> = new Set([
  '/v1/decisions',
  '/decisions',
  '/v1/alt-decisions',
  '/alt-decisions',
  '/v1/systemone',
  '/systemone',
]);

const isPattern = (path: string): boolean => /[:*{]/.test(path);

const firstSegment = (path: string): string => path.slice(1, `${path}/`.indexOf('/', 1));

/** Whether a path matches a registered one: a parameter is any segment, a wildcard any rest. */
function matchesPattern(registered: string, path: string): boolean {
  const segments = registered.split('/');
  const input = path.split('/');
  for (const [index, segment] of segments.entries()) {
    if (input[index] === undefined) return false;
    if (segment.includes('*')) return true;
    if (!isPattern(segment) && segment !== input[index]) return false;
  }
  return segments.length === input.length;
}

/** The row of a configured pass-through path; null if no endpoint serves a POST to the path. */
const configuredRow = (path: string, found: FoundEndpoint): RouteRow | null =>
  found.kind === 'endpoint' ? endpointRow('POST', path, found) : null;

/**
 * Finds the row of a POST on the fast path: a row marked `hot`, or a configured pass-through path. Only registrations
 * whose first segment is the same or a pattern are compared.
 */
export function createHotRows(registrations: readonly Registration[], passThrough: PassThroughRoutes | undefined) {
  const exact = new Map(
    registrations
      .filter(({ path, row }) => row.hot === true && !isPattern(path))
      .map(({ path, row }): [string, RouteRow] => [path, row]),
  );
  const startingWithPattern = registrations.filter(({ path }) => isPattern(firstSegment(path)));
  const bySegment = Map.groupBy(registrations, ({ path }) => firstSegment(path));

  const cache = new Map<string, PathMatch>();

  function matchOf(path: string): PathMatch {
    const cached = cache.get(path);
    if (cached !== undefined) return cached;
    const matching = [...(bySegment.get(firstSegment(path)) ?? []), ...startingWithPattern].filter((one) =>
      matchesPattern(one.path, path),
    );
    const first = matching.find(({ row: { method } }) => method === 'POST');
    // Only Koa reads path parameters. A row below a wildcard reads the rest of the path itself.
    const isHot = first?.row.hot === true && !first.path.includes(':');
    const isReplaceable = matching.every((one) => isPattern(firstSegment(one.path)));
    const match = matching.length === 0 ? null : { hot: isHot ? first.row : null, isReplaceable };
    if (cache.size >= MAX_CACHED_PATHS) cache.clear();
    cache.set(path, match);
    return match;
  }

  /** The row that serves a POST to `path` on the fast path; null if Koa serves the request. */
  function rowOf(path: string): RouteRow | null {
    const configured = passThrough?.find('POST', path) ?? { kind: 'none' };
    if (configured.kind !== 'none' && REPLACEABLE.has(path)) return configuredRow(path, configured);
    const hot = exact.get(path);
    if (hot !== undefined) return hot;
    if (!UNENCODED_PATH.test(path)) return null;
    const match = matchOf(path);
    if (match === null || (match.isReplaceable && configured.kind !== 'none')) return configuredRow(path, configured);
    return match.hot;
  }

  const paths: HotPaths = { has: (path) => rowOf(path) !== null, size: registrations.length };
  return { paths, rowOf };
}
