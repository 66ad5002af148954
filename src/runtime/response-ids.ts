import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { KeptUpstream, ResponseIds } from '../domain/responses/response-ids.ts';
import type { Secret } from '../domain/secret.ts';

const PREFIX = 'resp_';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals ids with a key that follows from the admin key: every process of an installation opens them, and no other. */
export function createResponseIds(masterKey: Secret): ResponseIds {
  const keyFor = (use: string): Buffer =>
    Buffer.from(hkdfSync('sha256', masterKey.reveal(), 'lensgate', `response ids: ${use}`, KEY_BYTES));
  const cipherKey = keyFor('cipher');
  const nonceKey = keyFor('nonce');
  return {
    seal({ deploymentId, upstreamId, owner }) {
      const whose = owner.teamId === '' ? ['', owner.keyHash] : [owner.teamId];
      const plain = Buffer.from(JSON.stringify([deploymentId, upstreamId, ...whose]));
      // A nonce from the text: the same text gives the same id, and two texts never share a nonce.
      const nonce = createHmac('sha256', nonceKey).update(plain).digest().subarray(0, NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, cipherKey, nonce);
      const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return `${PREFIX}${sealed.toString('base64url')}`;
    },
    open(id) {
      if (!id.startsWith(PREFIX)) return null;
      const sealed = Buffer.from(id.slice(PREFIX.length), 'base64url');
      if (sealed.length <= NONCE_BYTES + TAG_BYTES) return null;
      try {
        const decipher = createDecipheriv(CIPHER, cipherKey, sealed.subarray(0, NONCE_BYTES));
        decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
        const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
        return keptOf(JSON.parse(Buffer.concat([plain, decipher.final()]).toString('utf8')));
      } catch {
        // Somebody else's, an older key's, or made up.
        return null;
      }
    },
  };
}

function keptOf(value: unknown): KeptUpstream {
  const [deploymentId = '', upstreamId = '', teamId = '', keyHash = ''] = value as string[];
  return { deploymentId, upstreamId, owner: { teamId, keyHash } };
}
