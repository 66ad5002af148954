/** Cache of values up to a total weight; the oldest are evicted first. */
export interface WeightedCache<Value> {
  /** The cached value of this key; else the value of `make`, which is then cached. */
  get(key: string, make: () => Value): Value;
}

/** `most` is the capacity, in the unit of `weightOf`. A value that weighs more than `most` is not cached. */
export function createWeightedCache<Value>(most: number, weightOf: (value: Value) => number): WeightedCache<Value> {
  const entries = new Map<string, Value>();
  let weight = 0;
  return {
    get(key, make) {
      const cached = entries.get(key);
      if (cached !== undefined) return cached;
      const value = make();
      const valueWeight = weightOf(value);
      if (valueWeight > most) return value;
      weight += valueWeight;
      for (const [oldKey, old] of entries) {
        if (weight <= most) break;
        entries.delete(oldKey);
        weight -= weightOf(old);
      }
      entries.set(key, value);
      return value;
    },
  };
}
