import type { Caller } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { Unauthenticated, Unavailable } from '../domain/errors.ts';
import { assertUsable, type KeySmith, type KeyStore, type VirtualKey } from '../domain/keys/virtual-key.ts';
import type { Secret } from '../domain/secret.ts';
import type { KeyRing } from './key-ring.ts';

/** How long a key is believed before the store is asked again, in the background. */
const FRESH_MS = 60_000;
/** How long a key that no store knows is refused from memory. */
const UNKNOWN_MS = 5_000;
/** Most keys, known and unknown, that memory holds; the oldest goes first. */
const KNOWN_LIMIT = 100_000;
const UNKNOWN_LIMIT = 10_000;
/** A credential longer than this is none of ours and is not worth a hash. */
const KEY_LENGTH_LIMIT = 512;

interface Known {
  readonly key: VirtualKey;
  readonly caller: Caller;
  checkedMs: number;
}

/** A ring over a store. The admin key is known from the start and never stored. */
export function createKeyRing(options: {
  readonly masterKey: Secret;
  readonly store: KeyStore;
  readonly smith: KeySmith;
  readonly clock: Clock;
}): KeyRing {
  const { store, smith, clock } = options;
  // Keys are compared by their hashes alone, so how long a comparison takes says nothing about a key.
  const masterHash = smith.hash(options.masterKey.reveal());
  const master: Caller = { role: 'proxy_admin', keyHash: masterHash, key: null, teamId: null, userId: null };
  const known = new Map<string, Known>();
  const unknown = new Map<string, number>();
  const reading = new Map<string, Promise<VirtualKey | null>>();

  function read(hash: string): Promise<VirtualKey | null> {
    const under = reading.get(hash);
    if (under) return under;
    const started = store
      .find(hash)
      .then((key) => {
        // A key forgotten meanwhile was read too early to be believed.
        if (reading.get(hash) === started) remember(hash, key);
        return key;
      })
      .finally(() => {
        if (reading.get(hash) === started) reading.delete(hash);
      });
    reading.set(hash, started);
    return started;
  }

  function remember(hash: string, key: VirtualKey | null): void {
    known.delete(hash);
    unknown.delete(hash);
    if (key === null) {
      keep(unknown, hash, clock.monotonicMs(), UNKNOWN_LIMIT);
      return;
    }
    keep(known, hash, { key, caller: callerOf(key), checkedMs: clock.monotonicMs() }, KNOWN_LIMIT);
  }

  async function lookUp(name: string, hash: string): Promise<Caller> {
    const row = await read(hash).catch((cause: unknown) => {
      throw new Unavailable('Keys cannot be checked now: the key store does not answer.', undefined, { cause });
    });
    if (row === null) throw unknownKey(name, hash);
    assertUsable(row, clock.now());
    return callerOf(row);
  }

  /** `name` is what a refusal calls the key. */
  function callerBehind(hash: string, name: () => string): Caller | Promise<Caller> {
    const nowMs = clock.monotonicMs();
    const entry = known.get(hash);
    if (entry) {
      if (nowMs - entry.checkedMs > FRESH_MS) {
        // Asked again once; until the answer comes, or if none does, the key is believed.
        entry.checkedMs = nowMs;
        read(hash).catch(() => {});
      }
      assertUsable(entry.key, clock.now());
      return entry.caller;
    }
    const refusedMs = unknown.get(hash);
    if (refusedMs !== undefined && nowMs - refusedMs < UNKNOWN_MS) throw unknownKey(name(), hash);
    return lookUp(name(), hash);
  }

  return {
    identify(key) {
      if (!key.startsWith('sk-') || key.length > KEY_LENGTH_LIMIT) throw malformed(key);
      const hash = smith.hash(key);
      return hash === masterHash ? master : callerBehind(hash, () => masked(key));
    },
    current: (caller) =>
      caller.key === null ? caller : callerBehind(caller.keyHash, () => caller.key?.name ?? masked('')),
    forget(hash) {
      known.delete(hash);
      unknown.delete(hash);
      reading.delete(hash);
    },
  };
}

function keep<Value>(map: Map<string, Value>, hash: string, value: Value, limit: number): void {
  map.set(hash, value);
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) map.delete(oldest);
}

const callerOf = (key: VirtualKey): Caller => ({
  role: key.role,
  keyHash: key.hash,
  key,
  teamId: key.teamId,
  userId: key.userId,
});

/** `sk-...` and the last four characters; nothing of a key too short to spare them. */
const masked = (key: string): string => (key.length < 12 ? 'sk-...' : `sk-...${key.slice(-4)}`);

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
