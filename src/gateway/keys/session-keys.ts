import type { Clock } from '../../domain/clock.ts';
import { type DomainError, Forbidden, Unauthenticated } from '../../domain/errors.ts';
import { type KeyStore, acceptsSecret, keyStatusOf, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { weakerRole } from '../../domain/owners/key-owners.ts';
import { openingKey, sessionBoundsOf, type SessionOpeners } from '../../domain/users/session.ts';

type SessionStore = Pick<KeyStore, 'find' | 'findBySecrets'>;

/** Applies a change to all keys that a store finds. */
const withEach = (
  keys: SessionStore,
  change: (found: ReadonlyMap<string, VirtualKey>) => Promise<ReadonlyMap<string, VirtualKey>>,
): SessionStore => ({
  async find(secretHash) {
    const key = await keys.find(secretHash);
    if (key?.settings.session === undefined) return key;
    return (await change(new Map([[secretHash, key]]))).get(secretHash) ?? null;
  },
  findBySecrets: async (secretHashes) => change(await keys.findBySecrets(secretHashes)),
});

/**
 * A store of keys that also reads the keys that opened sessions. A session has the rights and limits that its key has
 * now, and at most the role of that key. It is refused when the password or key that opened it is no longer valid.
 */
export function createSessionKeys(
  keys: SessionStore & Pick<KeyStore, 'findMany'>,
  { openers, clock }: { readonly openers: Pick<SessionOpeners, 'holds'>; readonly clock: Pick<Clock, 'now'> },
): SessionStore {
  function sessionOf(key: VirtualKey, openingKeys: ReadonlyMap<string, VirtualKey>, now: Date): VirtualKey {
    const { session } = key.settings;
    if (session === undefined) return key;
    const opener = openingKey(session);
    if (opener === null) return openers.holds(session.openedBy) ? key : { ...key, refusal: ended };
    const row = openingKeys.get(opener.hash);
    const isOpen =
      row !== undefined && acceptsSecret(row, opener.secretHash, now) && keyStatusOf(row, now) === 'active';
    if (!isOpen) return { ...key, refusal: ended };
    const { maxBudget, settings, ...bounds } = sessionBoundsOf(row);
    return {
      ...key,
      ...bounds,
      role: weakerRole(key.role, row.role),
      maxBudget: maxBudget ?? key.maxBudget,
      settings: { ...settings, session: { ...session, opener: { alias: row.alias, teamId: row.teamId } } },
    };
  }

  return withEach(keys, async (found) => {
    const sessions = [...found.values()].flatMap(({ settings: { session } }) => session ?? []);
    if (sessions.length === 0) return found;
    const hashes = new Set(sessions.flatMap((session) => openingKey(session)?.hash ?? []));
    const openingKeys = hashes.size === 0 ? [] : await keys.findMany([...hashes]);
    const byHash = new Map(openingKeys.map((key) => [key.hash, key]));
    const now = clock.now();
    return new Map([...found].map(([secretHash, key]) => [secretHash, sessionOf(key, byHash, now)]));
  });
}

const ended = (): DomainError =>
  new Unauthenticated('The session has ended: the password or key that opened it is no longer valid.', 'unknown');

/**
 * A store of keys with their owners that refuses sessions without the team membership that they need. The user has left
 * the team.
 */
export const refuseFormerMembers = (keys: SessionStore): SessionStore =>
  withEach(keys, async (found) => new Map([...found].map(([secretHash, key]) => [secretHash, checkedMember(key)])));

function checkedMember(key: VirtualKey): VirtualKey {
  const { settings, teamId, owners, refusal } = key;
  if (refusal !== undefined || settings.session?.needsMembership !== true) return key;
  if (teamId === null || owners?.member) return key;
  return { ...key, refusal: () => new Forbidden(`Team '${teamId}' is not in your team memberships.`) };
}
