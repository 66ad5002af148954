import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { Ids } from '../domain/clock.ts';
import type { KeySmith } from '../domain/keys/virtual-key.ts';

/** Random bytes are drawn from the system in pools: a call needs 24 of them. */
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);
let used = 0;

function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  const hex = pool.toString('hex', used, used + bytes);
  used += bytes;
  return /^0+$/.test(hex) ? randomHex(bytes) : hex;
}

/** Bytes of a trace id that tell the time in milliseconds; the ten after them are random. */
const TIME_BYTES = 6;

/**
 * Identifiers from the system's random source. UUIDs and trace ids begin with the time, so that rows named by them
 * are written side by side and an index of them grows at its end. Of a trace id, W3C asks seven bytes to be random.
 */
export const randomIds: Ids = {
  uuid: () => randomUUIDv7(),
  traceId: () =>
    Date.now()
      .toString(16)
      .padStart(TIME_BYTES * 2, '0') + randomHex(16 - TIME_BYTES),
  spanId: () => randomHex(8),
};

/** Keys of 192 random bits, kept only as SHA-256. */
export const keySmith: KeySmith = {
  make: () => `sk-${keySmith.token()}`,
  token: () => randomBytes(24).toString('base64url'),
  hash: (key) => hash('sha256', key, 'hex'),
};
