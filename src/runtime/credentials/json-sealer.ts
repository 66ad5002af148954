import type { Cipher } from './encryption.ts';

/** Encrypts JSON values of stored rows, as Base64. `id` is the id of the row, which is authenticated. */
interface JsonSealer<Value> {
  seal(id: string, value: Value): string;
  /** Null when no known key decrypts it. */
  open(id: string, sealed: string): Value | null;
}

export const createJsonSealer = <Value>(cipher: Cipher): JsonSealer<Value> => ({
  seal: (id, value) => cipher.seal(Buffer.from(JSON.stringify(value)), id).toString('base64'),
  open(id, sealed) {
    const plain = cipher.open(Buffer.from(sealed, 'base64'), id);
    return plain === null ? null : (JSON.parse(plain.toString('utf8')) as Value);
  },
});
