/**
 * What of the price map goes into the committed snapshot: facts. Numbers, booleans, null, lists and objects of
 * them, and of the texts only those that are a name, a date, an hour, a size or an address: one run of
 * characters without white space. Whatever has white space is somebody's prose and is left out, as is everything
 * under a key that is meant for prose, and an object or list that nothing is left of.
 */
const PROSE_KEYS: ReadonlySet<string> = new Set(['comment', 'note', 'notes', 'description', 'calculation']);

const FACT = /^\S{1,400}$/u;

/** The facts of a JSON value, in their order; undefined when it has none. */
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
