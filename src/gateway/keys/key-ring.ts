import type { KeyHashes } from '../../domain/cache-changes.ts';
import { type Caller, haveSameRights } from '../../domain/caller.ts';
import type { FailedKeys, Peer } from '../../domain/keys/failed-keys.ts';
import type { Clock } from '../../domain/clock.ts';
import { Unauthenticated, Unavailable } from '../../domain/errors.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import { keyName } from '../../domain/keys/chosen-key.ts';
import {
  assertUsable,
  type KeyGenerator,
  type KeyStore,
  acceptsSecret,
  type VirtualKey,
} from '../../domain/keys/virtual-key.ts';
import type { Secret } from '../../domain/secret.ts';
import { callerOf, createKnownKeys, type KnownKey } from './known-keys.ts';

/** An owner of keys. */
export interface KeyOwner {
  readonly kind: 'userId' | 'teamId' | 'projectId' | 'organizationId';
  readonly id: string;
}

/** Authenticates keys from memory. The store is read for a key that is not cached or is stale (ADR 0056). */
export interface KeyRing {
  /**
   * The caller of a key: synchronous when a fresh key is cached, else after one read of the store. With `peer`, wrong
   * keys are counted per client network. Throws Unauthenticated, and Forbidden for a refused session or token. Throws
   * LimitExceeded for a peer with too many wrong keys, and Unavailable when the store does not answer.
   */
  identify(key: string, peer?: Peer): Caller | Promise<Caller>;
  /**
   * The caller with the current state of its key, which may be blocked, expired or changed. Synchronous when a fresh
   * key is cached. Throws Unauthenticated, Forbidden, and Unavailable.
   */
  current(caller: Caller): Caller | Promise<Caller>;
  /**
   * Evicts the secrets of keys that were created or changed, and the sessions that these keys opened, so that the next
   * call reads the store.
   */
  evict(...keys: readonly KeyHashes[]): void;
  /** Evicts the keys of owners that were changed, so that their next calls read the store. */
  evictOwner(...owners: readonly KeyOwner[]): void;
  /** Marks every cached key as stale: its next call reads the store. If the store fails, the key stays usable. */
  markStale(): void;
  /** Re-reads the keys used since the last refresh, a batch per statement. Never rejects. */
  refresh(): Promise<void>;
  /**
   * Calls `listener` with the hash of each key that was evicted after a change. Also calls it for each key that a
   * refresh finds deleted or with other rights.
   */
  onChange(listener: (keyHash: string) => void): void;
}

/** A key ring that also accepts the hash of a secret, for credentials that are verified elsewhere. */
export interface HashKeyRing extends KeyRing {
  /** The caller of a secret by its hash, as `identify`. `name` names the credential in errors. */
  identifyHash(secretHash: string, name: () => string): Caller | Promise<Caller>;
}

/** Age in ms up to which a cached key is used without a read, even if another process has changed it. */
const FRESH_MS = 4_000;
/** Age in ms up to which a cached key is used while the store fails. Older keys are refused with Unavailable. */
const OUTAGE_MS = 60_000;
/** Deadline of a store read, in ms. */
const READ_MS = 3_000;
/**
 * Time after a failed read in which cached keys are used without a read, in ms. Longer than refresh interval plus read
 * deadline, so that the next failed refresh extends the time before it ends.
 */
const STORE_DOWN_MS = 5_000;
/** Time in which an unknown key is refused from memory, in ms. */
const UNKNOWN_MS = 5_000;
/** Maximum number of unknown keys in memory. The oldest is evicted. */
const MAX_UNKNOWN = 10_000;
/** Keys per statement of a refresh. */
const REFRESH_BATCH = 500;
/** Longer credentials are invalid and are not hashed. */
const KEY_LENGTH_LIMIT = 512;

interface HashedKey {
  readonly key: string;
  readonly hash: string;
  readonly isMaster: boolean;
}

/** Creates a key ring over a store. The admin key comes from the settings and is never stored. */
export function createKeyRing(options: {
  /** The admin key. */
  readonly masterKey: Secret;
  readonly store: Pick<KeyStore, 'find' | 'findBySecrets'>;
  readonly generator: KeyGenerator;
  readonly clock: Clock;
  readonly failures: FailedKeys;
  /** Whether secrets that are not in the row of a key may open it: signed tokens that are mapped to the key. */
  readonly mapped?: boolean;
  /** Resolves after a time; rejects when the signal fires first. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}): HashKeyRing {
  const { store, generator, clock, failures, pause, mapped = false } = options;
  // Only hashes are compared, so that timing reveals nothing about a key.
  const masterHash = generator.hash(options.masterKey.reveal());
  const master: Caller = { role: 'proxy_admin', keyHash: masterHash, key: null, teamId: null, userId: null };
  const known = createKnownKeys();
  const hashedKeys = new WeakMap<Peer['headers'], HashedKey>();
  /** Times at which the store did not have a key, by secret hash. */
  const unknown = new Map<string, number>();
  const reading = new Map<string, Promise<VirtualKey | null>>();
  const listeners: ((keyHash: string) => void)[] = [];
  /** Until this time cached keys are used without a read, because a read failed or timed out. */
  let downUntilMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | null = null;
  /** Entries that were read at this time or before are stale. */
  let staleUpToMs = Number.NEGATIVE_INFINITY;

  /** Hashes a key. The hash is cached by the frozen headers object, which requests with equal heads share. */
  function hashed(key: string, headers: Peer['headers'] | undefined): HashedKey {
    const cached = headers === undefined ? undefined : hashedKeys.get(headers);
    if (cached?.key === key) return cached;
    const hash = generator.hash(key);
    const entry = { key, hash, isMaster: generator.same(hash, masterHash) };
    if (headers !== undefined && Object.isFrozen(headers)) hashedKeys.set(headers, entry);
    return entry;
  }

  function reportChange(keyHash: string): void {
    for (const listener of listeners) listener(keyHash);
  }

  /** Awaits a read. Rejects after `READ_MS`, and ignores a later result. */
  async function withDeadline<Value>(reply: Promise<Value>): Promise<Value> {
    const done = new AbortController();
    const late = pause(READ_MS, done.signal).then(
      () => {
        throw new Error(`The key store did not answer within ${READ_MS} ms.`);
      },
      () => reply,
    );
    try {
      const value = await Promise.race([reply, late]);
      downUntilMs = Number.NEGATIVE_INFINITY;
      return value;
    } catch (error) {
      downUntilMs = clock.monotonicMs() + STORE_DOWN_MS;
      throw error;
    } finally {
      done.abort();
    }
  }

  function read(hash: string): Promise<VirtualKey | null> {
    const running = reading.get(hash);
    if (running) return running;
    const readMs = clock.monotonicMs();
    const started = withDeadline(store.find(hash))
      .then((key) => {
        // After `evict` this read may be stale: do not cache it.
        if (reading.get(hash) === started) cacheResult(hash, key, readMs);
        return key;
      })
      .finally(() => {
        if (reading.get(hash) === started) reading.delete(hash);
      });
    reading.set(hash, started);
    return started;
  }

  function cacheResult(hash: string, key: VirtualKey | null, readMs: number): void {
    known.delete(hash);
    unknown.delete(hash);
    const nowMs = clock.monotonicMs();
    if (key !== null && acceptsSecret(key, hash, clock.now())) return known.set(hash, key, { readMs, nowMs });
    unknown.set(hash, nowMs);
    evictOldest(unknown, MAX_UNKNOWN);
  }

  function usableCaller({ key, caller, secretHash }: KnownKey, name: () => string): Caller {
    const now = clock.now();
    // The grace period of a replaced secret may have ended since the read.
    if (!acceptsSecret(key, secretHash, now)) throw unknownKey(name(), secretHash);
    assertUsable(key, now);
    return caller;
  }

  const unavailable = (cause: unknown): Unavailable =>
    new Unavailable('Keys cannot be checked now: the key store does not answer.', undefined, { cause });

  /** Reads a key that is not cached. */
  async function lookUp(hash: string, name: string, peer: Peer | undefined): Promise<Caller> {
    let row: VirtualKey | null;
    try {
      row = await read(hash);
    } catch (cause) {
      throw unavailable(cause);
    }
    if (row === null || !acceptsSecret(row, hash, clock.now())) {
      if (peer !== undefined) failures.count(peer);
      throw unknownKey(name, hash);
    }
    assertUsable(row, clock.now());
    return callerOf(row);
  }

  /** Re-reads a cached key. When the read fails, the key stays usable up to `OUTAGE_MS`. */
  async function recheck(entry: KnownKey, name: () => string): Promise<Caller> {
    const { secretHash } = entry;
    let row: VirtualKey | null;
    try {
      row = await read(secretHash);
    } catch (cause) {
      if (clock.monotonicMs() - entry.readMs > OUTAGE_MS) throw unavailable(cause);
      return usableCaller(entry, name);
    }
    if (row === null || !acceptsSecret(row, secretHash, clock.now())) throw unknownKey(name(), secretHash);
    assertUsable(row, clock.now());
    return callerOf(row);
  }

  /** `name` is the key's name in error messages. */
  function callerOfHash(hash: string, name: () => string, peer?: Peer): Caller | Promise<Caller> {
    const nowMs = clock.monotonicMs();
    const entry = known.use(hash, nowMs);
    if (entry) {
      const age = nowMs - entry.readMs;
      const isFresh = age <= FRESH_MS && entry.readMs > staleUpToMs;
      const isStoreDown = nowMs < downUntilMs;
      return isFresh || (isStoreDown && age <= OUTAGE_MS) ? usableCaller(entry, name) : recheck(entry, name);
    }
    const refusedMs = unknown.get(hash);
    const isRefused = refusedMs !== undefined && nowMs - refusedMs < UNKNOWN_MS;
    if (peer !== undefined) failures.admit(peer, { looksUp: !isRefused });
    if (!isRefused) return lookUp(hash, name(), peer);
    if (peer !== undefined) failures.count(peer);
    throw unknownKey(name(), hash);
  }

  async function refreshBatch(entries: readonly KnownKey[]): Promise<void> {
    const readMs = clock.monotonicMs();
    const rows = await withDeadline(store.findBySecrets(entries.map(({ secretHash }) => secretHash)));
    for (const entry of entries) {
      const { key: before, caller } = entry;
      const row = rows.get(entry.secretHash);
      const wasUpdated = row === undefined ? known.drop(entry) : known.renew(entry, row, readMs);
      const hasChanged = row === undefined || !admitsSameCallers(before, row) || !haveSameRights(caller, entry.caller);
      if (wasUpdated && hasChanged) reportChange(before.hash);
    }
  }

  async function refreshAll(): Promise<void> {
    const entries = known.takeUsed();
    for (let from = 0; from < entries.length; from += REFRESH_BATCH) {
      const batch = entries.slice(from, from + REFRESH_BATCH);
      try {
        await refreshBatch(batch);
      } catch {
        // Mark the keys as used again, so that the next refresh retries them.
        for (const { secretHash } of entries.slice(from)) known.use(secretHash, clock.monotonicMs());
        return;
      }
    }
  }

  return {
    identify(key, peer) {
      if (!key.startsWith('sk-') || key.length > KEY_LENGTH_LIMIT) throw malformed(key);
      const { hash, isMaster } = hashed(key, peer?.headers);
      return isMaster ? master : callerOfHash(hash, () => keyName(key), peer);
    },
    identifyHash(secretHash, name) {
      // The secret is valid: an entry in `unknown` comes from a read before the row of the key was written.
      unknown.delete(secretHash);
      return callerOfHash(secretHash, name);
    },
    current(caller) {
      const { key } = caller;
      return key === null ? caller : callerOfHash(key.secretHash, () => key.name);
    },
    evict(...keys) {
      for (const { hash, secretHash, previousSecret } of keys)
        for (const one of [hash, secretHash, previousSecret?.hash ?? hash]) {
          known.delete(one);
          unknown.delete(one);
        }
      const hashes = new Set(keys.map(({ hash }) => hash));
      if (mapped) known.dropWhere(({ hash }) => hashes.has(hash));
      const sessions = [...hashes].flatMap((hash) => known.dropSessionsOf(hash));
      // A running read may have begun before the change, also a read of a session with its opening key.
      reading.clear();
      for (const keyHash of [...hashes, ...sessions]) reportChange(keyHash);
    },
    evictOwner(...owners) {
      const idsByKind = [...Map.groupBy(owners, ({ kind }) => kind)].map(
        ([kind, named]) => [kind, new Set<string | null>(named.map(({ id }) => id))] as const,
      );
      const dropped = known.dropWhere((key) => idsByKind.some(([kind, ids]) => ids.has(ownerId(key, kind))));
      // A running read may have begun before the change.
      reading.clear();
      for (const keyHash of new Set(dropped)) reportChange(keyHash);
    },
    markStale() {
      staleUpToMs = clock.monotonicMs();
      unknown.clear();
      reading.clear();
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

function ownerId(key: VirtualKey, kind: KeyOwner['kind']): string | null {
  switch (kind) {
    case 'userId':
      return key.userId;
    case 'teamId':
      return key.teamId;
    case 'projectId':
      return key.settings.projectId ?? null;
    case 'organizationId':
      return key.owners?.organization?.id ?? null;
  }
}

/** Whether two reads of a key admit the same callers. */
const admitsSameCallers = (one: VirtualKey, other: VirtualKey): boolean =>
  one.blocked === other.blocked &&
  (one.refusal === undefined) === (other.refusal === undefined) &&
  one.owners?.team?.blocked === other.owners?.team?.blocked &&
  one.owners?.project?.blocked === other.owners?.project?.blocked &&
  one.expiresAt?.getTime() === other.expiresAt?.getTime();

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
