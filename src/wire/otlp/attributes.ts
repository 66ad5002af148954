import type { AttributeValue } from '../../domain/traces/span.ts';

/** Sets an attribute. Safe for every key, `__proto__` included. A later value replaces an earlier one. */
export function setAttribute(into: Record<string, AttributeValue>, key: string, value: AttributeValue): void {
  if (key !== '__proto__') {
    into[key] = value;
    return;
  }
  // Assignment to `__proto__` would change the prototype.
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
}
