/**
 * The known name with the smallest edit distance to a name. Null when every distance is above 1 and above a quarter of
 * the length of the name.
 */
export function nearestOf(name: string, known: Iterable<string>): string | null {
  let nearest: string | null = null;
  let fewest = Math.max(1, Math.floor(name.length / 4)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [nearest, fewest] = [candidate, edits];
  }
  return nearest;
}

/** Message about an unknown member of an entry, with the nearest known one. */
export function unknownMember(name: string, known: readonly string[]): string {
  const nearest = nearestOf(name, known);
  return nearest === null ? 'has no effect' : `is not a known setting; did you mean ${nearest}?`;
}

/** Levenshtein distance; a swap of two neighbours counts as one edit. */
function editsBetween(left: string, right: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isEqual = left[row - 1] === right[column - 1];
      const isSwap = row > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isEqual ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[right.length] ?? 0;
}
