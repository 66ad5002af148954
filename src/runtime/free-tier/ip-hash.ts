import { createHmac, hkdfSync } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';

/** What the derived key is for: another use of the admin key gets another text, and so another key. */
const PURPOSE = 'lensgate free tier: names of client networks';

/**
 * Names networks by a keyed hash, 64 hex digits. The key follows from the admin key, so processes that share
 * that one give the same names, and nobody without it can find an address by trying them all.
 */
export function createIpHash(adminKey: Secret): (network: string) => string {
  const key = Buffer.from(hkdfSync('sha256', adminKey.reveal(), '', PURPOSE, 32));
  return (network) => createHmac('sha256', key).update(network).digest('hex');
}
