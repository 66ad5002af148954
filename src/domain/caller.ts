import type { VirtualKey } from './keys/virtual-key.ts';
import { nullIfBlank } from './optional-text.ts';
import type { Role } from './role.ts';

/** The authenticated party of an operation. */
export interface Caller {
  readonly role: Role;
  /** Identity of the key, SHA-256 hex; for the process itself, the name of a task. Owns what the caller creates. */
  readonly keyHash: string;
  /** The key; null for the admin key and for the process itself, which have no row. */
  readonly key: VirtualKey | null;
  readonly teamId: string | null;
  readonly userId: string | null;
}

/** Whether two callers of one key have the same rights. Of one key, only role and team decide what a caller sees. */
export const haveSameRights = (one: Caller, other: Caller): boolean =>
  one.role === other.role && nullIfBlank(one.teamId) === nullIfBlank(other.teamId);

/** Owner of a row. It comes from the credential that the row arrived with, never from the payload. */
export interface Owner {
  /** Null when the key has no team; never blank. */
  readonly teamId: string | null;
  readonly keyHash: string;
}

export function ownerOf(caller: Caller): Owner {
  return { teamId: nullIfBlank(caller.teamId), keyHash: caller.keyHash };
}

/** Rows that a reader may see: all, those of one team, or those of one key without a team. */
export type Visibility =
  | { readonly kind: 'all' }
  | { readonly kind: 'team'; readonly teamId: string }
  | { readonly kind: 'key'; readonly keyHash: string };

export function visibilityOf(caller: Caller): Visibility {
  if (caller.role === 'proxy_admin' || caller.role === 'proxy_admin_viewer') return { kind: 'all' };
  const teamId = nullIfBlank(caller.teamId);
  return teamId === null ? { kind: 'key', keyHash: caller.keyHash } : { kind: 'team', teamId };
}

/** Whether rows of this owner are inside what a reader may see. */
export function mayRead(visibility: Visibility, owner: Owner): boolean {
  switch (visibility.kind) {
    case 'all':
      return true;
    case 'team':
      return owner.teamId !== null && owner.teamId === visibility.teamId;
    case 'key':
      return owner.teamId === null && owner.keyHash === visibility.keyHash;
  }
}
