/**
 * Maps items with at most `limit` promises at the same time. The results are in the order of the items. After a failure
 * no further item is started. The first failure is thrown when all started items have ended.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  map: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const entries = items.entries();
  async function work(): Promise<void> {
    for (const [index, item] of entries) {
      if (failures.length > 0) return;
      try {
        results[index] = await map(item, index);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  if (failures.length > 0) throw failures[0];
  return results;
}
