import type { Clock } from '../domain/clock.ts';
import { Unavailable } from '../domain/errors.ts';
import { CATALOG_KEY_PREFIX, type CheckoutStore, isEntitled } from '../domain/checkout/checkout.ts';
import type { KeySmith } from '../domain/keys/virtual-key.ts';
import type { CatalogKeyRing } from './catalog-key-ring.ts';

/** How long an answer of the store is believed. */
const HELD_MS = 60_000;
/** From here on the store is asked again in the background, so that a caller need not wait for it. */
const STALE_MS = 30_000;
/** How long a key that does not hold is refused from memory: a payment may come any moment. */
const REFUSED_MS = 5_000;
/** Most keys that memory holds of each kind; the oldest goes first. */
const HELD_LIMIT = 100_000;
const REFUSED_LIMIT = 10_000;
/** A credential longer than this is none of ours and is not worth a hash. */
const KEY_LENGTH_LIMIT = 128;

/** A ring over the checkouts. */
export function createCatalogKeyRing(options: {
  readonly store: Pick<CheckoutStore, 'findByKey'>;
  readonly smith: KeySmith;
  readonly clock: Clock;
}): CatalogKeyRing {
  const { store, smith, clock } = options;
  const held = new Map<string, number>();
  const refused = new Map<string, number>();
  const reading = new Map<string, Promise<boolean>>();

  function read(hash: string): Promise<boolean> {
    const under = reading.get(hash);
    if (under) return under;
    const askedMs = clock.monotonicMs();
    const started = store
      .findByKey(hash)
      .then((checkout) => {
        const holds = checkout !== null && isEntitled(checkout);
        // A key forgotten meanwhile was read too early to be believed.
        if (reading.get(hash) === started) remember(hash, holds, askedMs);
        return holds;
      })
      .catch((cause: unknown) => {
        throw new Unavailable('Keys cannot be checked now: the key store does not answer.', undefined, { cause });
      })
      .finally(() => {
        if (reading.get(hash) === started) reading.delete(hash);
      });
    reading.set(hash, started);
    return started;
  }

  function remember(hash: string, holds: boolean, askedMs: number): void {
    held.delete(hash);
    refused.delete(hash);
    if (holds) keep(held, hash, askedMs, HELD_LIMIT);
    else keep(refused, hash, askedMs, REFUSED_LIMIT);
  }

  return {
    holds(credential) {
      if (!credential.startsWith(CATALOG_KEY_PREFIX) || credential.length > KEY_LENGTH_LIMIT) return false;
      const hash = smith.hash(credential);
      const nowMs = clock.monotonicMs();
      const ageMs = nowMs - (held.get(hash) ?? -Infinity);
      if (ageMs < HELD_MS) {
        if (ageMs > STALE_MS) read(hash).catch(() => {});
        return true;
      }
      if (nowMs - (refused.get(hash) ?? -Infinity) < REFUSED_MS) return false;
      return read(hash);
    },
    forget(hash) {
      held.delete(hash);
      refused.delete(hash);
      reading.delete(hash);
    },
  };
}

function keep(map: Map<string, number>, hash: string, askedMs: number, limit: number): void {
  map.set(hash, askedMs);
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) map.delete(oldest);
}
