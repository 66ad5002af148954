/** All permutations of these items. */
export function permutationsOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, index) => permutationsOf(items.toSpliced(index, 1)).map((others) => [first, ...others]));
}
