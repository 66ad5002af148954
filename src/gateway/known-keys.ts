import type { Caller } from '../domain/caller.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';

/** Keys in memory: the least recently used is evicted, to within `MOVE_MS`. */
const MOST_KNOWN = 100_000;
/** A key in use is moved to the young end of the map at most this often, because a move costs more than a look-up. */
const MOVE_MS = 1_000;

/** A key as it was read. */
export interface KnownKey {
  /** Hash of the secret that it is known by. */
  readonly secretHash: string;
  key: VirtualKey;
  caller: Caller;
  /** When the read began that brought it. */
  readMs: number;
  /** When it was last moved to the young end. */
  movedMs: number;
  /** Whether it was used since `takeUsed`. */
  used: boolean;
}

/** A bounded LRU of keys by the hash of a secret. */
export interface KnownKeys {
  /** The entry, marked as used. */
  use(secretHash: string, nowMs: number): KnownKey | undefined;
  set(secretHash: string, key: VirtualKey, times: { readonly readMs: number; readonly nowMs: number }): void;
  /** Replaces what an entry holds, unless it was evicted or read again meanwhile. Returns whether it did. */
  renew(entry: KnownKey, key: VirtualKey, readMs: number): boolean;
  /** Removes an entry, unless it was evicted or read again meanwhile. Returns whether it did. */
  drop(entry: KnownKey): boolean;
  delete(secretHash: string): void;
  /** Entries used since the last call. */
  takeUsed(): readonly KnownKey[];
}

export function createKnownKeys(most = MOST_KNOWN): KnownKeys {
  const entries = new Map<string, KnownKey>();
  let used: KnownKey[] = [];

  function mark(entry: KnownKey): void {
    if (entry.used) return;
    entry.used = true;
    used.push(entry);
  }

  return {
    use(secretHash, nowMs) {
      const entry = entries.get(secretHash);
      if (entry === undefined) return undefined;
      mark(entry);
      if (nowMs - entry.movedMs > MOVE_MS) {
        entry.movedMs = nowMs;
        entries.delete(secretHash);
        entries.set(secretHash, entry);
      }
      return entry;
    },
    set(secretHash, key, { readMs, nowMs }) {
      entries.delete(secretHash);
      const entry = { secretHash, key, caller: callerOf(key), readMs, movedMs: nowMs, used: false };
      entries.set(secretHash, entry);
      mark(entry);
      const [oldest] = entries.keys();
      if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    },
    renew(entry, key, readMs) {
      if (entries.get(entry.secretHash) !== entry || entry.readMs > readMs) return false;
      entry.key = key;
      entry.caller = callerOf(key);
      entry.readMs = readMs;
      return true;
    },
    drop: (entry) => entries.get(entry.secretHash) === entry && entries.delete(entry.secretHash),
    delete(secretHash) {
      entries.delete(secretHash);
    },
    takeUsed() {
      const taken = used;
      used = [];
      for (const entry of taken) entry.used = false;
      // Of a key that was read again meanwhile the newer entry is among them, too.
      return taken.filter((entry) => entries.get(entry.secretHash) === entry);
    },
  };
}

export const callerOf = (key: VirtualKey): Caller => ({
  role: key.role,
  keyHash: key.hash,
  key,
  teamId: key.teamId,
  userId: key.userId,
});
