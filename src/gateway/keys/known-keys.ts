import type { Caller } from '../../domain/caller.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { weakerRole } from '../../domain/owners/key-owners.ts';
import type { Role } from '../../domain/role.ts';
import { openingKey } from '../../domain/users/session.ts';
import { DEFAULT_USER_ID } from '../../domain/users/user.ts';

/** Maximum number of keys in memory. The least recently used is evicted, with a precision of `LRU_MOVE_INTERVAL_MS`. */
const MAX_KEYS = 100_000;
/** Minimum time between two LRU moves of a key, in ms. A move costs more than a look-up. */
const LRU_MOVE_INTERVAL_MS = 1_000;

/** Cached key. */
export interface KnownKey {
  /** Hash of the secret: the cache key. */
  readonly secretHash: string;
  key: VirtualKey;
  caller: Caller;
  /** Start time of the read. */
  readMs: number;
  /** Time of the last LRU move. */
  movedMs: number;
  /** Whether the key was used since the last `takeUsed`. */
  used: boolean;
}

/** A bounded LRU of keys by the hash of a secret. */
export interface KnownKeys {
  /** The entry, marked as used. */
  use(secretHash: string, nowMs: number): KnownKey | undefined;
  set(secretHash: string, key: VirtualKey, times: { readonly readMs: number; readonly nowMs: number }): void;
  /** Updates an entry, unless it was evicted or read again. Returns whether it was updated. */
  renew(entry: KnownKey, key: VirtualKey, readMs: number): boolean;
  /** Removes an entry, unless it was evicted or read again. Returns whether it was removed. */
  drop(entry: KnownKey): boolean;
  delete(secretHash: string): void;
  /** Removes the keys that match; returns their key hashes. */
  dropWhere(matches: (key: VirtualKey) => boolean): readonly string[];
  /** Removes the sessions that a key opened; returns their key hashes. */
  dropSessionsOf(keyHash: string): readonly string[];
  /** Entries used since the last call. */
  takeUsed(): readonly KnownKey[];
}

export function createKnownKeys(max = MAX_KEYS): KnownKeys {
  const entries = new Map<string, KnownKey>();
  /** Entries of sessions, by the hash of the key that opened them. */
  const sessions = new Map<string, Set<KnownKey>>();
  let used: KnownKey[] = [];

  function mark(entry: KnownKey): void {
    if (entry.used) return;
    entry.used = true;
    used.push(entry);
  }

  function add(entry: KnownKey): void {
    entries.set(entry.secretHash, entry);
    const opener = openerOf(entry);
    if (opener === null) return;
    const ofOpener = sessions.get(opener);
    if (ofOpener === undefined) sessions.set(opener, new Set([entry]));
    else ofOpener.add(entry);
  }

  function remove(entry: KnownKey): void {
    entries.delete(entry.secretHash);
    const opener = openerOf(entry);
    if (opener === null) return;
    const ofOpener = sessions.get(opener);
    ofOpener?.delete(entry);
    if (ofOpener?.size === 0) sessions.delete(opener);
  }

  function removeHash(secretHash: string): void {
    const entry = entries.get(secretHash);
    if (entry !== undefined) remove(entry);
  }

  return {
    use(secretHash, nowMs) {
      const entry = entries.get(secretHash);
      if (entry === undefined) return undefined;
      mark(entry);
      if (nowMs - entry.movedMs > LRU_MOVE_INTERVAL_MS) {
        entry.movedMs = nowMs;
        entries.delete(secretHash);
        entries.set(secretHash, entry);
      }
      return entry;
    },
    set(secretHash, key, { readMs, nowMs }) {
      removeHash(secretHash);
      const entry = { secretHash, key, caller: callerOf(key), readMs, movedMs: nowMs, used: false };
      add(entry);
      mark(entry);
      for (const oldest of entries.values()) {
        if (entries.size <= max) break;
        remove(oldest);
      }
    },
    renew(entry, key, readMs) {
      if (entries.get(entry.secretHash) !== entry || entry.readMs > readMs) return false;
      entry.key = key;
      entry.caller = callerOf(key);
      entry.readMs = readMs;
      return true;
    },
    drop(entry) {
      const isKnown = entries.get(entry.secretHash) === entry;
      if (isKnown) remove(entry);
      return isKnown;
    },
    delete: removeHash,
    dropWhere(matches) {
      const dropped = [...entries.values()].filter(({ key }) => matches(key));
      for (const entry of dropped) remove(entry);
      return dropped.map(({ key }) => key.hash);
    },
    dropSessionsOf(keyHash) {
      const dropped = [...(sessions.get(keyHash) ?? [])];
      for (const entry of dropped) remove(entry);
      return dropped.map(({ key }) => key.hash);
    },
    takeUsed() {
      const usedEntries = used;
      used = [];
      for (const entry of usedEntries) entry.used = false;
      // Skip entries that were evicted or replaced. A newer entry is in the list, too.
      return usedEntries.filter((entry) => entries.get(entry.secretHash) === entry);
    },
  };
}

/** Hash of the key that opened a session; null for another entry. It never changes. */
const openerOf = ({
  key: {
    settings: { session },
  },
}: KnownKey): string | null => (session === undefined ? null : (openingKey(session)?.hash ?? null));

/**
 * The weaker of the roles of a key and of its user. The default user represents the admin key. A team membership may
 * create a row of this user. The role of that row does not restrict the administrator's sessions.
 */
export function roleOf({ role, userId, owners, token }: VirtualKey): Role {
  // The role of a token's key already includes the role of its user.
  if (token !== undefined) return role;
  const userRole = userId === DEFAULT_USER_ID ? null : (owners?.user?.role ?? null);
  return userRole === null ? role : weakerRole(role, userRole);
}

export const callerOf = (key: VirtualKey): Caller => ({
  role: roleOf(key),
  keyHash: key.hash,
  key,
  teamId: key.teamId,
  userId: key.userId,
});
