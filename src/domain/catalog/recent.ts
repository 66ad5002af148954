/** Values worth keeping for when they are asked for again, up to a total weight; the oldest go first. */
export interface Recent<Value> {
  /** The value kept under this key, else the one made now, which is then kept. */
  get(key: string, make: () => Value): Value;
}

/** `weightOf` is in the unit of `most`. A value that alone weighs more is made every time. */
export function keepRecent<Value>(most: number, weightOf: (value: Value) => number): Recent<Value> {
  const kept = new Map<string, Value>();
  let weight = 0;
  return {
    get(key, make) {
      const before = kept.get(key);
      if (before !== undefined) return before;
      const value = make();
      const own = weightOf(value);
      if (own > most) return value;
      weight += own;
      for (const [oldKey, old] of kept) {
        if (weight <= most) break;
        kept.delete(oldKey);
        weight -= weightOf(old);
      }
      kept.set(key, value);
      return value;
    },
  };
}
