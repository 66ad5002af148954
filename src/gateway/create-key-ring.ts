import { type Caller, haveSameRights } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { Unauthenticated, Unavailable } from '../domain/errors.ts';
import type { FailedKeys, Peer } from '../domain/keys/failed-keys.ts';
import { keyName } from '../domain/keys/own-key.ts';
import { assertUsable, type KeySmith, type KeyStore, opens, type VirtualKey } from '../domain/keys/virtual-key.ts';
import type { Secret } from '../domain/secret.ts';
import type { KeyRing } from './key-ring.ts';
import { callerOf, createKnownKeys, type KnownKey } from './known-keys.ts';

/** Age of a read up to which a key is used without asking the store. A change elsewhere is in force after this. */
const FRESH_MS = 4_000;
/** Age of a read up to which a key is used while the store does not answer; after that calls get Unavailable. */
const OUTAGE_MS = 60_000;
/** Longest a caller waits for a read of the store. */
const READ_MS = 3_000;
/** How long after a failed read known keys are used without another: longer than a refresh and its deadline take. */
const AWAY_MS = 5_000;
/** How long a key that no store knows is refused from memory. */
const UNKNOWN_MS = 5_000;
const MOST_UNKNOWN = 10_000;
/** Keys that one statement of a refresh reads. */
const REFRESH_BATCH = 500;
/** A credential longer than this is none of ours and is not worth a hash. */
const KEY_LENGTH_LIMIT = 512;

/** A ring over a store. The admin key is known from the start and never stored. */
export function createKeyRing(options: {
  readonly masterKey: Secret;
  readonly store: Pick<KeyStore, 'find' | 'findBySecrets'>;
  readonly smith: KeySmith;
  readonly clock: Clock;
  readonly failures: FailedKeys;
  /** Resolves after a time; rejects when the signal fires first. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}): KeyRing {
  const { store, smith, clock, failures, pause } = options;
  // Keys are compared by their hashes alone, so how long a comparison takes says nothing about a key.
  const masterHash = smith.hash(options.masterKey.reveal());
  const master: Caller = { role: 'proxy_admin', keyHash: masterHash, key: null, teamId: null, userId: null };
  const known = createKnownKeys();
  const unknown = new Map<string, number>();
  const reading = new Map<string, Promise<VirtualKey | null>>();
  const listeners: ((keyHash: string) => void)[] = [];
  /** Until then known keys are used without waiting for the store, because a read failed or timed out. */
  let awayUntilMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | null = null;

  function changed(keyHash: string): void {
    for (const listener of listeners) listener(keyHash);
  }

  /** A read with a deadline. Whatever it brings later is not used. */
  async function within<Value>(reply: Promise<Value>): Promise<Value> {
    const done = new AbortController();
    const late = pause(READ_MS, done.signal).then(
      () => {
        throw new Error(`The key store did not answer within ${READ_MS} ms.`);
      },
      () => reply,
    );
    try {
      const value = await Promise.race([reply, late]);
      awayUntilMs = Number.NEGATIVE_INFINITY;
      return value;
    } catch (error) {
      awayUntilMs = clock.monotonicMs() + AWAY_MS;
      throw error;
    } finally {
      done.abort();
    }
  }

  function read(hash: string): Promise<VirtualKey | null> {
    const running = reading.get(hash);
    if (running) return running;
    const readMs = clock.monotonicMs();
    const started = within(store.find(hash))
      .then((key) => {
        // After a forget the read began too early to be used by later calls.
        if (reading.get(hash) === started) remember(hash, key, readMs);
        return key;
      })
      .finally(() => {
        if (reading.get(hash) === started) reading.delete(hash);
      });
    reading.set(hash, started);
    return started;
  }

  function remember(hash: string, key: VirtualKey | null, readMs: number): void {
    known.delete(hash);
    unknown.delete(hash);
    const nowMs = clock.monotonicMs();
    if (key !== null && opens(key, hash, clock.now())) return known.set(hash, key, { readMs, nowMs });
    unknown.set(hash, nowMs);
    const [oldest] = unknown.keys();
    if (unknown.size > MOST_UNKNOWN && oldest !== undefined) unknown.delete(oldest);
  }

  function usable({ key, caller, secretHash }: KnownKey, name: () => string): Caller {
    const now = clock.now();
    // A grace period may have ended since it was read.
    if (!opens(key, secretHash, now)) throw unknownKey(name(), secretHash);
    assertUsable(key, now);
    return caller;
  }

  const unavailable = (cause: unknown): Unavailable =>
    new Unavailable('Keys cannot be checked now: the key store does not answer.', undefined, { cause });

  /** Reads a key that memory does not know. */
  async function lookUp(hash: string, name: string, peer: Peer | undefined): Promise<Caller> {
    let row: VirtualKey | null;
    try {
      row = await read(hash);
    } catch (cause) {
      throw unavailable(cause);
    }
    if (row === null || !opens(row, hash, clock.now())) {
      if (peer !== undefined) failures.count(peer);
      throw unknownKey(name, hash);
    }
    assertUsable(row, clock.now());
    return callerOf(row);
  }

  /** Reads a known key again before it is used. Without an answer it stays usable for a while. */
  async function recheck(entry: KnownKey, name: () => string): Promise<Caller> {
    const { secretHash } = entry;
    let row: VirtualKey | null;
    try {
      row = await read(secretHash);
    } catch (cause) {
      if (clock.monotonicMs() - entry.readMs > OUTAGE_MS) throw unavailable(cause);
      return usable(entry, name);
    }
    if (row === null || !opens(row, secretHash, clock.now())) throw unknownKey(name(), secretHash);
    assertUsable(row, clock.now());
    return callerOf(row);
  }

  /** `name` is what a refusal calls the key. */
  function callerBehind(hash: string, name: () => string, peer?: Peer): Caller | Promise<Caller> {
    const nowMs = clock.monotonicMs();
    const entry = known.use(hash, nowMs);
    if (entry) {
      const age = nowMs - entry.readMs;
      return age <= FRESH_MS || (nowMs < awayUntilMs && age <= OUTAGE_MS) ? usable(entry, name) : recheck(entry, name);
    }
    const refusedMs = unknown.get(hash);
    const isRefused = refusedMs !== undefined && nowMs - refusedMs < UNKNOWN_MS;
    if (peer !== undefined) failures.admit(peer, !isRefused);
    if (!isRefused) return lookUp(hash, name(), peer);
    if (peer !== undefined) failures.count(peer);
    throw unknownKey(name(), hash);
  }

  async function refreshBatch(entries: readonly KnownKey[]): Promise<void> {
    const readMs = clock.monotonicMs();
    const rows = await within(store.findBySecrets(entries.map(({ secretHash }) => secretHash)));
    for (const entry of entries) {
      const { key: before, caller } = entry;
      const row = rows.get(entry.secretHash);
      const replaced = row === undefined ? known.drop(entry) : known.renew(entry, row, readMs);
      if (replaced && (row === undefined || !isAlike(before, row) || !haveSameRights(caller, entry.caller)))
        changed(before.hash);
    }
  }

  async function refreshAll(): Promise<void> {
    const entries = known.takeUsed();
    for (let from = 0; from < entries.length; from += REFRESH_BATCH) {
      const batch = entries.slice(from, from + REFRESH_BATCH);
      try {
        await refreshBatch(batch);
      } catch {
        // The next refresh reads them again, so that it notices when the store answers.
        for (const { secretHash } of entries.slice(from)) known.use(secretHash, clock.monotonicMs());
        return;
      }
    }
  }

  return {
    identify(key, peer) {
      if (!key.startsWith('sk-') || key.length > KEY_LENGTH_LIMIT) throw malformed(key);
      const hash = smith.hash(key);
      return hash === masterHash ? master : callerBehind(hash, () => keyName(key), peer);
    },
    current(caller) {
      const { key } = caller;
      return key === null ? caller : callerBehind(key.secretHash, () => key.name);
    },
    forget(...keys) {
      for (const key of keys)
        for (const hash of [
          key.hash,
          key.secretHash,
          ...(key.previousSecret === null ? [] : [key.previousSecret.hash]),
        ]) {
          known.delete(hash);
          unknown.delete(hash);
          reading.delete(hash);
        }
      for (const keyHash of new Set(keys.map(({ hash }) => hash))) changed(keyHash);
    },
    refresh() {
      refreshing ??= refreshAll().finally(() => {
        refreshing = null;
      });
      return refreshing;
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}

/** Whether two reads of a key let the same callers in. */
const isAlike = (one: VirtualKey, other: VirtualKey): boolean =>
  one.blocked === other.blocked && one.expiresAt?.getTime() === other.expiresAt?.getTime();

function unknownKey(name: string, hash: string): Unauthenticated {
  return new Unauthenticated(
    `Invalid proxy server token passed. Received API Key = ${name}, Key Hash (Token) =${hash}. Unable to find token in cache or \`LiteLLM_VerificationTokenTable\``,
    'unknown',
  );
}

function malformed(key: string): Unauthenticated {
  const fault = key.startsWith('sk-')
    ? `No key is longer than ${KEY_LENGTH_LIMIT} characters.`
    : 'Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.';
  return new Unauthenticated(`Malformed API Key passed in. ${fault}`, 'malformed');
}
