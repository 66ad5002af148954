/** A random number from 0 to 1, excluding 1. */
export type Random = () => number;

/** The items in random order. */
export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const chosen = Math.floor(random() * (last + 1));
    const item = mixed[chosen] as Item;
    mixed[chosen] = mixed[last] as Item;
    mixed[last] = item;
  }
  return mixed;
}

/**
 * Order of a weighted random selection (`simple-shuffle`). The first metric with any value above zero gives the
 * weights. An item without it weighs 0 and comes after all weighted ones, by the next metric. Without any value, the
 * order is random with equal chances.
 */
export function weightedOrder<Item>(
  items: readonly Item[],
  metrics: readonly ((item: Item) => number)[],
  random: Random,
): readonly Item[] {
  const index = metrics.findIndex((metric) => items.some((item) => metric(item) > 0));
  const weightOf = metrics[index];
  if (weightOf === undefined) return shuffled(items, random);
  const weighted = items.filter((item) => weightOf(item) > 0);
  const others = items.filter((item) => weightOf(item) <= 0);
  return [...drawn(weighted, weightOf, random), ...weightedOrder(others, metrics.slice(index + 1), random)];
}

/** Draws all items without replacement, each time in proportion to the weights. */
function drawn<Item>(items: readonly Item[], weightOf: (item: Item) => number, random: Random): readonly Item[] {
  const left = [...items];
  const order: Item[] = [];
  while (left.length > 1) {
    let point = random() * left.reduce((sum, item) => sum + weightOf(item), 0);
    let index = left.findIndex((item) => {
      point -= weightOf(item);
      return point < 0;
    });
    // Rounding may leave a rest that belongs to the last item.
    if (index === -1) index = left.length - 1;
    order.push(...left.splice(index, 1));
  }
  return [...order, ...left];
}

/** Order by ascending value. Items of equal value are in random order. */
export function lowestFirst<Item>(
  items: readonly Item[],
  valueOf: (item: Item) => number | bigint,
  random: Random,
): readonly Item[] {
  const valued = shuffled(items, random).map((item) => ({ item, value: valueOf(item) }));
  return valued.toSorted(byValue).map(({ item }) => item);
}

/**
 * Order by ascending latency. The items within `buffer`, a fraction above the lowest latency, are in random order at
 * the start.
 */
export function lowestLatencyFirst<Item>(
  items: readonly Item[],
  latencyOf: (item: Item) => number,
  { buffer, random }: { readonly buffer: number; readonly random: Random },
): readonly Item[] {
  const valued = shuffled(items, random).map((item) => ({ item, value: latencyOf(item) }));
  const limit = valued.reduce((least, { value }) => Math.min(least, value), Infinity) * (1 + buffer);
  const near = valued.filter(({ value }) => value <= limit);
  const far = valued.filter(({ value }) => value > limit).toSorted(byValue);
  return [...near, ...far].map(({ item }) => item);
}

const byValue = (
  { value: left }: { readonly value: number | bigint },
  { value: right }: { readonly value: number | bigint },
): number => {
  if (left === right) return 0;
  return left < right ? -1 : 1;
};

/**
 * Order by levels: each level in the order that `rank` gives. The lowest level comes first, and items without a level
 * come last.
 */
export function byLevels<Item>(
  items: readonly Item[],
  levelOf: (item: Item) => number | undefined,
  rank: (level: readonly Item[]) => readonly Item[],
): readonly Item[] {
  const levels = Map.groupBy(items, (item) => levelOf(item) ?? Infinity);
  if (levels.size <= 1) return rank(items);
  return [...levels].toSorted(([left], [right]) => left - right).flatMap(([, level]) => rank(level));
}
