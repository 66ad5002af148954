/**
 * Caches the result of `compute` for each frozen object, as long as the object lives. For values that depend only on
 * that object, such as the headers of a request. Requests of one connection with equal headers share one frozen object
 * (ADR 0022).
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
