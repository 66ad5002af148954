import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../domain/secret.ts';

/**
 * Whether two byte arrays are equal, in a time that depends on their lengths only. All comparisons of secrets use this
 * function.
 */
export const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && timingSafeEqual(left, right);

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Returns a check whether a text equals a secret. It compares hashes, so that the time does not reveal the secret's
 * length.
 */
export function secretCheck(secret: Secret): (text: string) => boolean {
  const wanted = digestOf(secret.reveal());
  return (text) => sameBytes(wanted, digestOf(text));
}
