import type { AttributeValue } from '../../domain/traces/span.ts';

/** Sets an attribute under its own name, whatever that is; of several with one key the last stays. */
export function setAttribute(into: Record<string, AttributeValue>, key: string, value: AttributeValue): void {
  if (key !== '__proto__') {
    into[key] = value;
    return;
  }
  // Plain assignment would change the prototype instead.
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
}
