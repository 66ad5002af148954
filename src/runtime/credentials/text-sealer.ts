import { SEALED_MARK as MARK } from '../../domain/sealed-text.ts';
import { type Cipher, cipherFor, type Secrets } from './encryption.ts';

/** Encrypts texts in stored rows. `rowId` is authenticated: a text cannot be decrypted in another row. */
export interface TextSealer {
  seal(text: string, rowId: string): string;
  /** The decrypted text. An unencrypted text is returned unchanged. Null when no known key decrypts it. */
  open(text: string, rowId: string): string | null;
  /** The text encrypted with the current key; null for a text that is not encrypted with a former key. */
  renewed(text: string, rowId: string): string | null;
}

const bytesOf = (text: string): Buffer => Buffer.from(text.slice(MARK.length), 'base64');
const marked = (bytes: Buffer): string => `${MARK}${bytes.toString('base64')}`;

/** Creates a sealer whose key is derived from the salt key for one purpose. */
function createTextSealer(secrets: Secrets, purpose: string): TextSealer {
  const cipher: Cipher = cipherFor(secrets, purpose);
  return {
    seal: (text, rowId) => marked(cipher.seal(Buffer.from(text), rowId)),
    open: (text, rowId) =>
      text.startsWith(MARK) ? (cipher.open(bytesOf(text), rowId)?.toString('utf8') ?? null) : text,
    renewed(text, rowId) {
      const fresh = text.startsWith(MARK) ? cipher.renewed(bytesOf(text), rowId) : null;
      return fresh === null ? null : marked(fresh);
    },
  };
}

/** Creates the sealer for the secrets in callbacks of teams. */
export const callbackSealer = (salt: Secrets): TextSealer => createTextSealer(salt, 'callbacks of teams');
