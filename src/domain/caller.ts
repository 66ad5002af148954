import type { VirtualKey } from './keys/virtual-key.ts';
import { nullIfBlank } from './optional-text.ts';
import type { Role } from './role.ts';

/** The authenticated party of an operation. */
export interface Caller {
  readonly role: Role;
  /** SHA-256 hash of the key, as hex. For the process itself, it is the name of a task. */
  readonly keyHash: string;
  /** The virtual key. Null for the admin key and for the process itself, which are not stored as virtual keys. */
  readonly key: VirtualKey | null;
  readonly teamId: string | null;
  readonly userId: string | null;
}

/** Whether two callers with the same key have the same rights. Besides the key, only role and team decide them. */
export const haveSameRights = (one: Caller, other: Caller): boolean =>
  one.role === other.role && nullIfBlank(one.teamId) === nullIfBlank(other.teamId);

/** Owner of a row. The credential of the request that creates the row decides it, never the payload. */
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

/** Whether a reader with this visibility may see rows of this owner. */
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
