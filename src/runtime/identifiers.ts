import { hash, randomBytes } from 'node:crypto';
import type { Ids } from '../domain/clock.ts';
import type { KeyGenerator } from '../domain/keys/virtual-key.ts';
import { sameBytes } from './same-secret.ts';

/** Random bytes of one read from the system. A call needs 28: 10 for a UUID, 10 for a trace id, 8 for a span id. */
const POOL_BYTES = 8192;
/** Bytes of one conversion to hex. An id in memory keeps the whole converted text in memory, so the text is short. */
const TEXT_BYTES = 512;
let pool = Buffer.alloc(0);
let pooledBytesUsed = 0;
/** Hex digits that are not used yet. */
let digits = '';
let digitsUsed = 0;

function randomHex(bytes: number): string {
  const end = digitsUsed + bytes * 2;
  if (end > digits.length) {
    refill();
    return randomHex(bytes);
  }
  const hex = digits.slice(digitsUsed, end);
  digitsUsed = end;
  return hex;
}

function refill(): void {
  if (pooledBytesUsed === pool.length) {
    pool = randomBytes(POOL_BYTES);
    pooledBytesUsed = 0;
  }
  digits = pool.toString('hex', pooledBytesUsed, pooledBytesUsed + TEXT_BYTES);
  pooledBytesUsed += TEXT_BYTES;
  digitsUsed = 0;
}

let lastMs = Number.NaN;
let lastHex = '';

/** The time in ms as twelve hex digits, with which UUIDs and trace ids begin; computed once per millisecond. */
function timeHex(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastHex = now.toString(16).padStart(12, '0');
  }
  return lastHex;
}

/** The span id that W3C does not allow. */
const NO_SPAN = '0'.repeat(16);

function spanId(): string {
  const id = randomHex(8);
  return id === NO_SPAN ? spanId() : id;
}

/** A version 7 UUID with random bytes of the pool, which is faster than Node's own function. */
function uuidV7(): string {
  const time = timeHex();
  const random = randomHex(10);
  // The two highest bits of this digit are 10, the variant of RFC 9562; the other two are random.
  const variant = '89ab'[Number.parseInt(random.charAt(0), 16) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(1, 4)}-${variant}${random.slice(4, 7)}-${random.slice(8)}`;
}

/**
 * Identifiers from the system's random source. UUIDs and trace ids begin with the time, so that new rows are adjacent
 * and indexes grow at their end. W3C requires seven random bytes in a trace id.
 */
export const randomIds: Ids = {
  uuid: uuidV7,
  traceId: () => timeHex() + randomHex(10),
  spanId,
};

/** Keys and tokens of 192 random bits. `hash` is SHA-256 in hex. */
export const keyGenerator: KeyGenerator = {
  make: () => `sk-${keyGenerator.token()}`,
  token: () => randomBytes(24).toString('base64url'),
  hash: (key) => hash('sha256', key, 'hex'),
  same: (one, other) => sameBytes(Buffer.from(one), Buffer.from(other)),
};

/** SHA-256 of a text, as hex. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');
