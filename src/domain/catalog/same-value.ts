/** Whether two JSON values are equal, the order of keys included. Responses keep that order. */
export function sameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const leftKeys = Object.keys(left);
  const rightKeys = Object.keys(right);
  if (leftKeys.length !== rightKeys.length) return false;
  const [leftValues, rightValues] = [left as Record<string, unknown>, right as Record<string, unknown>];
  for (let at = 0; at < leftKeys.length; at += 1) {
    const key = leftKeys[at] ?? '';
    if (key !== rightKeys[at] || !sameValue(leftValues[key], rightValues[key])) return false;
  }
  return true;
}
