import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Derives the key for one purpose from a secret of the installation. Every process with the secret derives the same
 * key.
 */
export const keyFor = (secret: Secret, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret.reveal(), 'lensgate', purpose, KEY_BYTES));

/** A secret that encrypts, and former ones whose ciphertexts can still be decrypted. */
export interface Secrets {
  readonly current: Secret;
  readonly former: readonly Secret[];
}

/** Encrypts with the current key for one purpose. Decrypts ciphertexts of that key and of former ones. */
export interface Cipher {
  /** Encrypts. `authenticatedData` is not stored, and must be the same for `open`. */
  seal(plain: Uint8Array, authenticatedData: string): Buffer;
  /** Decrypts. Null when no known key opens the bytes with this `authenticatedData`. */
  open(sealed: Uint8Array, authenticatedData: string): Buffer | null;
  /**
   * Decrypts a ciphertext of a former key, and encrypts its content with the current key. Null for any other
   * ciphertext.
   */
  renewed(sealed: Uint8Array, authenticatedData: string): Buffer | null;
}

export function cipherFor({ current, former }: Secrets, purpose: string): Cipher {
  const key = keyFor(current, purpose);
  const formerKeys = former.map((secret) => keyFor(secret, purpose));
  const firstOpened = (keys: readonly Buffer[], sealed: Uint8Array, authenticatedData: string): Buffer | null => {
    for (const one of keys) {
      const plain = open(one, sealed, authenticatedData);
      if (plain !== null) return plain;
    }
    return null;
  };
  return {
    seal: (plain, authenticatedData) => seal(key, plain, authenticatedData),
    open: (sealed, authenticatedData) => firstOpened([key, ...formerKeys], sealed, authenticatedData),
    renewed(sealed, authenticatedData) {
      if (open(key, sealed, authenticatedData) !== null) return null;
      const plain = firstOpened(formerKeys, sealed, authenticatedData);
      return plain === null ? null : seal(key, plain, authenticatedData);
    },
  };
}

/**
 * Encrypts. `authenticatedData` is not stored, and must be the same for `open`. The nonce is random when absent.
 */
export function seal(
  key: Buffer,
  plain: Uint8Array,
  authenticatedData: string,
  nonce = randomBytes(NONCE_BYTES),
): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(authenticatedData));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts. Null when the bytes are no ciphertext of this key with this `authenticatedData`. */
export function open(key: Buffer, sealed: Uint8Array, authenticatedData: string): Buffer | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES)).setAAD(
      Buffer.from(authenticatedData),
    );
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return null;
  }
}
