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
 * Items in weighted random order (`simple-shuffle`). The weights are the values of the first metric that is above zero
 * for any item. Items with the weight 0 follow, ordered by the later metrics in the same way. Without any value above
 * zero, all orders have equal chances.
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
    // By rounding errors, the weights may not reach the drawn point. Then it belongs to the last item.
    if (index === -1) index = left.length - 1;
    order.push(...left.splice(index, 1));
  }
  return [...order, ...left];
}

/** Items by ascending value. Items with equal values are in random order. */
export function lowestFirst<Item>(
  items: readonly Item[],
  valueOf: (item: Item) => number | bigint,
  random: Random,
): readonly Item[] {
  const valued = shuffled(items, random).map((item) => ({ item, value: valueOf(item) }));
  return valued.toSorted(byValue).map(({ item }) => item);
}

/**
 * Items by ascending latency. The items up to the fraction `buffer` above the lowest latency come first, in random
 * order.
 */
export function lowestLatencyFirst<Item>(
  items: readonly Item[],
  latencyOf: (item: Item) => number,
  { buffer, random }: { readonly buffer: number; readonly random: Random },
): readonly Item[] {
  const valued = shuffled(items, random).map((item) => ({ item, value: latencyOf(item) }));
  const lowest = valued.reduce((least, { value }) => Math.min(least, value), Infinity);
  const limit = lowest * (1 + buffer);
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

/** Items by ascending level, those without a level last. `rank` orders the items of each level. */
export function byLevels<Item>(
  items: readonly Item[],
  levelOf: (item: Item) => number | undefined,
  rank: (level: readonly Item[]) => readonly Item[],
): readonly Item[] {
  const levels = Map.groupBy(items, (item) => levelOf(item) ?? Infinity);
  if (levels.size <= 1) return rank(items);
  return [...levels].toSorted(([left], [right]) => left - right).flatMap(([, level]) => rank(level));
}
