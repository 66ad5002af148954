import type { JsonObject } from '../../domain/json-object.ts';
import { Secret } from '../../domain/secret.ts';
import { OMITTED, mappedInner } from './mapped-inner.ts';

// Structured cloning loses the class and the value of a Secret. A secret is sent to another thread as an object whose
// only key is the mark.

const isPlain = (value: object): value is JsonObject => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/**
 * A value in which marked objects replace secrets. Functions are left out. Parts without either are returned, not
 * copied.
 */
export function withMarkedSecrets(value: unknown, mark: string): unknown {
  if (value instanceof Secret) return { [mark]: value.reveal() };
  if (Array.isArray(value) || (typeof value === 'object' && value !== null && isPlain(value)))
    return mappedInner(value, (inner) => (typeof inner === 'function' ? OMITTED : withMarkedSecrets(inner, mark)));
  return value;
}

/** The inverse of `withMarkedSecrets`. */
export function withRestoredSecrets(value: unknown, mark: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    if (!isPlain(value)) return value;
    const secret = value[mark];
    if (typeof secret === 'string') return new Secret(secret);
  }
  return mappedInner(value, (inner) => withRestoredSecrets(inner, mark));
}
