import type { Platform } from '../../resolvers/operation/scope.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { Unauthenticated } from '../../src/domain/errors.ts';

const caller = (role: Caller['role'], teamId: string | null): Caller => ({
  role,
  keyHash: `${role}-${teamId ?? 'lone'}`,
  key: null,
  teamId,
  userId: null,
});

const CALLERS: Readonly<Record<string, Caller>> = {
  'sk-admin': caller('proxy_admin', null),
  'sk-viewer': caller('proxy_admin_viewer', null),
  'sk-team-a': caller('internal_user', 'team-a'),
  'sk-team-b': caller('internal_user', 'team-b'),
};

/** Key ring with keys that never change. */
export const KEYS_IN_MEMORY: Omit<Platform['keyRing'], 'identify'> = {
  current: (who) => who,
  markStale() {},
  evict() {},
  refresh: async () => {},
};

/** Caller of a key, by the name of the key. Throws `Unauthenticated` for an unknown key. */
export function identifyByName(key: string): Caller {
  const known = CALLERS[key];
  if (known) return known;
  throw new Unauthenticated('The key is not known.', 'unknown');
}
