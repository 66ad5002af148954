import type { Caller, Owner } from '../caller.ts';
import type { VirtualKey } from './virtual-key.ts';

/**
 * Reads the key that made an object, also a deleted one, with its owners. The key of a signed token is not stored: its
 * owners are only the team and the user of the object. Null for a credential without key, team and user.
 */
export type KeyOfOwner = (owner: Owner & Pick<Caller, 'userId'>) => Promise<VirtualKey | null>;
