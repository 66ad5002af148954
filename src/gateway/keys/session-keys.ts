import type { Clock } from '../../domain/clock.ts';
import { type DomainError, Forbidden, Unauthenticated } from '../../domain/errors.ts';
import { type KeyStore, acceptsSecret, keyStatusOf, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { weakerRole } from '../../domain/owners/key-owners.ts';
import { openingKey, type SessionOpeners } from '../../domain/users/session.ts';

type SessionStore = Pick<KeyStore, 'find' | 'findBySecrets'>;

/**
 * A store of keys that also checks sessions. A session is refused when the password or key that opened it is no longer
 * valid. It is also refused when it needs a team membership that its user no longer has. A session has at most the
 * current role of the key that opened it.
 */
export function createSessionKeys(
  keys: SessionStore,
  options: {
    readonly stored: Pick<KeyStore, 'findMany'>;
    readonly openers: Pick<SessionOpeners, 'holds'>;
    readonly clock: Pick<Clock, 'now'>;
  },
): SessionStore {
  const { stored, openers, clock } = options;

  async function checked(found: ReadonlyMap<string, VirtualKey>): Promise<ReadonlyMap<string, VirtualKey>> {
    const sessions = [...found].filter(([, { settings }]) => settings.session !== undefined);
    if (sessions.length === 0) return found;
    const hashes = new Set(sessions.flatMap(([, key]) => openerOf(key)?.hash ?? []));
    const openingKeys = hashes.size === 0 ? [] : await stored.findMany([...hashes]);
    const byHash = new Map(openingKeys.map((key) => [key.hash, key]));
    const result = new Map(found);
    for (const [secretHash, key] of sessions) {
      const refusal = refusalOf(key, byHash, { openers, now: clock.now() });
      const opener = byHash.get(openerOf(key)?.hash ?? '');
      if (refusal !== null) result.set(secretHash, { ...key, refusal });
      else if (opener !== undefined) result.set(secretHash, { ...key, role: weakerRole(key.role, opener.role) });
    }
    return result;
  }

  return {
    async find(secretHash) {
      const key = await keys.find(secretHash);
      if (key?.settings.session === undefined) return key;
      return (await checked(new Map([[secretHash, key]]))).get(secretHash) ?? null;
    },
    findBySecrets: async (secretHashes) => checked(await keys.findBySecrets(secretHashes)),
  };
}

/** The key that opened a session; null for a session that no key opened. */
const openerOf = ({ settings: { session } }: VirtualKey) => (session === undefined ? null : openingKey(session));

/** Why a session is invalid; null for a valid one. */
function refusalOf(
  key: VirtualKey,
  openingKeys: ReadonlyMap<string, VirtualKey>,
  { openers, now }: { readonly openers: Pick<SessionOpeners, 'holds'>; readonly now: Date },
): (() => DomainError) | null {
  const { settings, teamId, owners } = key;
  if (settings.session === undefined) return null;
  const opener = openerOf(key);
  const row = opener === null ? undefined : openingKeys.get(opener.hash);
  const isOpen =
    opener === null
      ? openers.holds(settings.session.openedBy)
      : row !== undefined && acceptsSecret(row, opener.secretHash, now) && keyStatusOf(row, now) === 'active';
  if (!isOpen)
    return () =>
      new Unauthenticated('The session has ended: the password or key that opened it is no longer valid.', 'unknown');
  if (!settings.session.needsMembership || teamId === null || owners?.member) return null;
  return () => new Forbidden(`Team '${teamId}' is not in your team memberships.`);
}
