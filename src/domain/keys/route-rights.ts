import { Forbidden } from '../errors.ts';
import type { VirtualKey } from './virtual-key.ts';

/** Groups of routes that a key's `allowedRoutes` may name. */
export type RouteGroup =
  | 'llm_api_routes'
  | 'openai_routes'
  | 'anthropic_routes'
  | 'google_routes'
  | 'management_routes'
  | 'info_routes'
  | 'mcp_routes';

/** A requested route. */
export interface RequestedRoute {
  /** Path as it was sent, without the query. */
  readonly path: string;
  readonly groups: readonly RouteGroup[];
}

/**
 * Whether an entry of a list allows a route. A path allows itself and the paths below it. The name of a group allows
 * its routes. An entry with a trailing `*` allows all paths with the prefix.
 */
function allows(entry: string, { path, groups }: RequestedRoute): boolean {
  if (groups.some((group) => group === entry)) return true;
  if (entry.endsWith('*')) return path.startsWith(entry.slice(0, -1));
  return entry !== '' && (path === entry || path.startsWith(entry.endsWith('/') ? entry : `${entry}/`));
}

/** Throws Forbidden for a route that is not among those a key may call. A key without a list may call all. */
export function assertRoute(key: VirtualKey | null, route: RequestedRoute): void {
  const allowed = key?.settings.allowedRoutes ?? [];
  if (allowed.length === 0 || allowed.some((entry) => allows(entry, route))) return;
  const listed = `[${allowed.map((entry) => `'${entry}'`).join(', ')}]`;
  throw new Forbidden(
    `Virtual key is not allowed to call this route. Only allowed to call routes: ${listed}. Tried to call route: ${route.path}`,
    'route',
  );
}
