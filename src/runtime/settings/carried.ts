import type { JsonObject } from '../../domain/json-object.ts';
import { Secret } from '../../domain/secret.ts';
import { LEFT_OUT, mappedInner } from './mapped-inner.ts';

// Structured cloning loses the class of a secret and its value: a secret is carried as a marked object.

const isPlain = (value: object): value is JsonObject => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** A value whose secrets are marked objects. Functions are left out. Parts without either are returned, not copied. */
export function carried(value: unknown, mark: string): unknown {
  if (value instanceof Secret) return { [mark]: value.reveal() };
  if (Array.isArray(value) || (typeof value === 'object' && value !== null && isPlain(value)))
    return mappedInner(value, (inner) => (typeof inner === 'function' ? LEFT_OUT : carried(inner, mark)));
  return value;
}

/** The opposite of `carried`. */
export function revived(value: unknown, mark: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    if (!isPlain(value)) return value;
    const secret = value[mark];
    if (typeof secret === 'string') return new Secret(secret);
  }
  return mappedInner(value, (inner) => revived(inner, mark));
}
