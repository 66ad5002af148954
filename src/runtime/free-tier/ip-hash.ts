import { createHmac, hkdfSync } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';

/** Purpose of the derived key: each use of the admin key has its own text, and so its own key. */
const PURPOSE = 'lensgate free tier: names of client networks';

/**
 * Keyed hash of networks, 64 hex digits. The key is derived from the admin key: processes with the same admin key
 * compute the same hashes. Without the admin key, an address cannot be found by hashing all addresses.
 */
export function createIpHash(adminKey: Secret): (network: string) => string {
  const key = Buffer.from(hkdfSync('sha256', adminKey.reveal(), '', PURPOSE, 32));
  return (network) => createHmac('sha256', key).update(network).digest('hex');
}
