/**
 * The part of the price map that the snapshot contains: numbers, booleans, null, lists and objects of them, and
 * texts without white space (names, dates, hours, sizes, addresses). Other texts are prose and are left out, as is
 * everything under a key for prose, and objects and lists that are empty afterwards.
 */
const PROSE_KEYS: ReadonlySet<string> = new Set(['comment', 'note', 'notes', 'description', 'calculation']);

const FACT = /^\S{1,400}$/u;

/** The facts of a JSON value, in their order; undefined for none. */
export function factsOf(value: unknown): unknown {
  if (typeof value === 'string') return FACT.test(value) ? value : undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(factsOf).filter((item) => item !== undefined);
    return items.length === 0 && value.length > 0 ? undefined : items;
  }
  const fields = Object.entries(value)
    .filter(([key]) => !PROSE_KEYS.has(key))
    .map(([key, field]) => [key, factsOf(field)] as const)
    .filter(([, field]) => field !== undefined);
  return fields.length === 0 && Object.keys(value).length > 0 ? undefined : Object.fromEntries(fields);
}
