import type { Cipher } from './encryption.ts';

/** Encrypts JSON values of stored rows, as Base64. `id` is the id of the row, which is authenticated. */
interface JsonSealer<Value> {
  seal(id: string, value: Value): string;
  /** Null when no known key decrypts it. */
  open(id: string, sealed: string): Value | null;
}

/** `warn` is called once for each id of a row that no known key decrypts. */
export function createJsonSealer<Value>(cipher: Cipher, warn: (id: string) => void): JsonSealer<Value> {
  const warned = new Set<string>();
  function warnOnce(id: string): void {
    if (warned.has(id)) return;
    warned.add(id);
    warn(id);
  }
  return {
    seal: (id, value) => cipher.seal(Buffer.from(JSON.stringify(value)), id).toString('base64'),
    open(id, sealed) {
      const plain = cipher.open(Buffer.from(sealed, 'base64'), id);
      if (plain !== null) return JSON.parse(plain.toString('utf8')) as Value;
      warnOnce(id);
      return null;
    },
  };
}
