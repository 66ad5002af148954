import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../domain/secret.ts';

/** Whether two lists of bytes are equal. The time depends on their lengths only. The one comparison of secrets of the process. */
export const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && timingSafeEqual(left, right);

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A check whether a text is a secret. It compares hashes, so that the time does not depend on the length of the secret either. */
export function secretCheck(secret: Secret): (text: string) => boolean {
  const wanted = digestOf(secret.reveal());
  return (text) => sameBytes(wanted, digestOf(text));
}
