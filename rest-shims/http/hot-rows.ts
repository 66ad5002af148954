import type { PassThroughRoutes } from '../../src/domain/pass-through/routes.ts';
import { endpointRow } from '../pass-through.ts';
import type { RouteRow } from './route.ts';

/** A path of a row, in the order of registration: the first match counts. */
export interface Registration {
  readonly path: string;
  readonly row: RouteRow;
}

/** Paths that are served past Koa, for POST only. */
export type HotPaths = Pick<ReadonlySet<string>, 'has' | 'size'>;

/** The hot row of a path, or null for another one; null where no row has the path. */
type Own = { readonly hot: RouteRow | null } | null;

/** Capacity of the cache of paths and their rows. */
const MOST_KNOWN = 1_000;

/** Paths without encoded characters. Other paths are served by Koa. */
const PLAIN = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.:~-]+)+$/;

/** Paths of rows that a configured path replaces. */
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

/** Whether a registered path may match: a parameter counts as any segment, a wildcard as any rest. */
function mayMatch(registered: string, path: string): boolean {
  const wanted = registered.split('/');
  const sent = path.split('/');
  for (const [index, segment] of wanted.entries()) {
    if (sent[index] === undefined) return false;
    if (segment.includes('*')) return true;
    if (!isPattern(segment) && segment !== sent[index]) return false;
  }
  return wanted.length === sent.length;
}

/**
 * Rows marked `hot`, by the path of a POST, and configured paths that no row has. Rows of a path with parameters are found
 * among those with the same first segment.
 */
export function createHotRows(registrations: readonly Registration[], passThrough: PassThroughRoutes | undefined) {
  const exact = new Map(
    registrations
      .filter(({ path, row }) => row.hot === true && !isPattern(path))
      .map(({ path, row }): [string, RouteRow] => [path, row]),
  );
  const anywhere = registrations.filter(({ path }) => isPattern(firstSegment(path)));
  const bySegment = Map.groupBy(registrations, ({ path }) => firstSegment(path));

  const known = new Map<string, Own>();

  /** The row of a path; null when none matches. */
  function ownOf(path: string): Own {
    const before = known.get(path);
    if (before !== undefined) return before;
    const matching = [...(bySegment.get(firstSegment(path)) ?? []), ...anywhere].filter((one) =>
      mayMatch(one.path, path),
    );
    const first = matching.find(({ row: { method } }) => method === 'POST');
    // Koa reads the parameters of a path. A row below a wildcard reads its address itself.
    const isHot = first?.row.hot === true && !first.path.includes(':');
    const own = matching.length === 0 ? null : { hot: isHot ? first.row : null };
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(path, own);
    return own;
  }

  function rowOf(path: string): RouteRow | null {
    const found = passThrough?.find('POST', path) ?? { kind: 'none' };
    if (found.kind !== 'none' && REPLACEABLE.has(path))
      return found.kind === 'endpoint' ? endpointRow('POST', path, found) : null;
    const hot = exact.get(path);
    if (hot !== undefined) return hot;
    if (!PLAIN.test(path)) return null;
    const own = ownOf(path);
    if (own === null) return found.kind === 'endpoint' ? endpointRow('POST', path, found) : null;
    return own.hot;
  }

  const paths: HotPaths = { has: (path) => rowOf(path) !== null, size: registrations.length };
  return { paths, rowOf };
}
