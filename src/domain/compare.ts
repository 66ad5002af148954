/** Comparator of an ascending sort: below, equal to or above 0. Texts are compared by UTF-16 units. */
export function compare<Value extends string | bigint>(left: Value, right: Value): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
