import { createHash } from 'node:crypto';
import type { Clock } from '../../src/domain/clock.ts';
import { Unauthenticated } from '../../src/domain/errors.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createKeyRing } from '../../src/gateway/keys/key-ring.ts';
import { aKey } from './chat.ts';
import { UNLIMITED } from './unlimited-key-ring.ts';

export const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex');
export const KEY = 'sk-a-key-of-ours-1234';
export const HASH = sha256(KEY);
export const MASTER = 'sk-master-key-for-tests';

/** Key ring over a store, clock and deadlines that the test controls. `hashed` lists every key that was hashed. */
export function aRing(rows: readonly VirtualKey[] = [aKey({ hash: HASH })]) {
  const stored = new Map(rows.map((row) => [row.secretHash, row]));
  const state = { finds: 0, batches: [] as (readonly string[])[], nowMs: 0, isUnavailable: false };
  const clock: Clock = {
    now: () => new Date(Date.UTC(2026, 0, 1) + state.nowMs),
    monotonicMs: () => state.nowMs,
  };
  /** Store reads and deadlines that the test resolves. Reads are not held while `reads` is null. */
  const pending = { reads: null as (() => void)[] | null, deadlines: [] as (() => void)[] };
  async function answer<Value>(value: () => Value): Promise<Value> {
    if (state.isUnavailable) throw new Error('The store is unavailable.');
    const found = value();
    if (pending.reads !== null) await new Promise<void>((resolve) => pending.reads?.push(resolve));
    return found;
  }
  const changes: string[] = [];
  const hashed: string[] = [];
  const ring = createKeyRing({
    masterKey: new Secret(MASTER),
    store: {
      find(secretHash) {
        state.finds += 1;
        return answer(() => stored.get(secretHash) ?? null);
      },
      findBySecrets(secretHashes) {
        state.batches.push(secretHashes);
        return answer(() => new Map([...stored].filter(([secretHash]) => secretHashes.includes(secretHash))));
      },
    },
    generator: { token: () => 'token', make: () => KEY, hash, same: (left, right) => left === right },
    clock,
    failures: UNLIMITED.failures,
    pause: (_ms, signal) =>
      new Promise((resolve, reject) => {
        pending.deadlines.push(resolve);
        signal.addEventListener('abort', () => reject(new Error('Stopped waiting.')));
      }),
  });
  ring.onChange((keyHash) => changes.push(keyHash));
  return { ring, state, stored, pending, changes, hashed };

  function hash(key: string): string {
    hashed.push(key);
    return sha256(key);
  }
}

type Ring = ReturnType<typeof aRing>['ring'];

/** Caller of a key, or the error that `identify` throws or rejects with. */
export async function identified(ring: Ring, key: string) {
  try {
    return await ring.identify(key);
  } catch (error) {
    return error;
  }
}

export const BLOCKED = new Unauthenticated("Key is blocked. Update via `/key/unblock` if you're an admin.", 'blocked');
export const UNKNOWN = new Unauthenticated(
  `Invalid proxy server token passed. Received API Key = sk-...1234, Key Hash (Token) =${HASH}. Unable to find token in cache or \`LiteLLM_VerificationTokenTable\``,
  'unknown',
);
/** Longest age of a key that is used without a read, in ms. `STALE_MS` is the shortest age that needs a read. */
export const FRESH_MS = 4_000;
export const STALE_MS = FRESH_MS + 1;
/** Longest age of a key that is used while the store fails, in ms. */
export const OUTAGE_MS = 60_000;
