import type { Caller } from '../caller.ts';
import { Forbidden } from '../errors.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';

/** A requested pass-through endpoint, as far as rights depend on it. */
export interface RequestedEndpoint {
  /** Path as it was sent. */
  readonly path: string;
  readonly isFromConfig: boolean;
  /** Whether the path is below the path of the endpoint. */
  readonly isBelow: boolean;
}

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/**
 * Routes in a member of the metadata: the list of the key, then that of its team. Null where the metadata has no such
 * list.
 */
function listsOf({ metadata, owners }: VirtualKey, member: string): readonly (readonly string[] | null)[] {
  return [metadata[member], owners?.team?.metadata[member]].map((value) => (isList(value) ? value : null));
}

/** Whether a path is one of some routes or below one. */
export const coversPath = (routes: readonly string[], path: string): boolean =>
  routes.some((route) => path === route || path.startsWith(route.endsWith('/') ? route : `${route}/`));

/**
 * Throws Forbidden for a caller who may not call a pass-through endpoint. `denied_passthrough_routes` of the key or the
 * team take precedence. Administrators may call all other endpoints. Other keys may call those in the
 * `allowed_passthrough_routes` of the key, or else of its team. They may also call an endpoint of the configuration
 * file at exactly its path.
 */
export function assertMayPass({ role, key }: Caller, { path, isFromConfig, isBelow }: RequestedEndpoint): void {
  if (key === null) return;
  if (listsOf(key, 'denied_passthrough_routes').some((denied) => denied !== null && coversPath(denied, path)))
    throw notAllowed(path);
  if (role === 'proxy_admin') return;
  const [ofKey = null, ofTeam = null] = listsOf(key, 'allowed_passthrough_routes');
  if (coversPath(ofKey ?? ofTeam ?? [], path)) return;
  if (!isFromConfig) throw notAllowed(path);
  if (!isBelow) return;
  const message = `Only proxy admins can call this path. Add it to \`allowed_passthrough_routes\` of the key or its team. Route=${path}.`;
  throw new Forbidden(message, 'admin_route');
}

const notAllowed = (path: string): Forbidden =>
  new Forbidden(
    `Key/team not allowed to access passthrough route ${path}. Configure \`allowed_passthrough_routes\` on the team or key.`,
  );
