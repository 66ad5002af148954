/**
 * Caches the results of `compute` for frozen objects, as long as the object lives. Requests of one connection with
 * equal heads share one frozen object with their headers (ADR 0022). Values that depend on the headers alone are
 * computed once.
 */
export function frozenMemo<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const cached = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const hit = cached.get(key);
    if (hit !== undefined) return hit.value;
    const value = compute(key);
    if (Object.isFrozen(key)) cached.set(key, { value });
    return value;
  };
}
