import { createHmac } from 'node:crypto';
import { nullIfBlank } from '../../domain/optional-text.ts';
import type { UpstreamResponse, ResponseIds } from '../../domain/responses/response-ids.ts';
import type { Secret } from '../../domain/secret.ts';
import { keyFor, NONCE_BYTES, open, seal } from '../credentials/encryption.ts';

const PREFIX = 'resp_';
/** No additional authenticated data: the id is self-contained. */
const NO_AUTHENTICATED_DATA = '';
const NAMES_OTHERS = 'names_others';

/**
 * Encrypts ids with a key derived from the admin key (`masterKey`): every process of the installation can decrypt them.
 */
export function createResponseIds(masterKey: Secret): ResponseIds {
  const cipherKey = keyFor(masterKey, 'response ids: cipher');
  const nonceKey = keyFor(masterKey, 'response ids: nonce');
  return {
    seal({ deploymentId, upstreamId, owner, namesOthers }) {
      const ownerParts = owner.teamId === null ? ['', owner.keyHash] : [owner.teamId];
      const parts = namesOthers === true ? [ownerParts[0], ownerParts[1] ?? '', NAMES_OTHERS] : ownerParts;
      const plain = Buffer.from(JSON.stringify([deploymentId, upstreamId, ...parts]));
      // The nonce is derived from the text: the same text has the same id, and two texts never share a nonce.
      const nonce = createHmac('sha256', nonceKey).update(plain).digest().subarray(0, NONCE_BYTES);
      return `${PREFIX}${seal(cipherKey, plain, NO_AUTHENTICATED_DATA, nonce).toString('base64url')}`;
    },
    open(id) {
      if (!id.startsWith(PREFIX)) return null;
      // Null for ids of another installation or admin key, and for forged ids.
      const plain = open(cipherKey, Buffer.from(id.slice(PREFIX.length), 'base64url'), NO_AUTHENTICATED_DATA);
      return plain === null ? null : upstreamResponseOf(JSON.parse(plain.toString('utf8')));
    },
  };
}

function upstreamResponseOf(value: unknown): UpstreamResponse {
  const [deploymentId = '', upstreamId = '', teamId = '', keyHash = '', flag] = value as string[];
  const response = { deploymentId, upstreamId, owner: { teamId: nullIfBlank(teamId), keyHash } };
  return flag === NAMES_OTHERS ? { ...response, namesOthers: true } : response;
}
