/** Keys whose values are prose. */
const PROSE_KEYS: ReadonlySet<string> = new Set(['comment', 'note', 'notes', 'description', 'calculation']);

/** Text of a fact: 1 to 400 characters without white space, such as a name, date, size or address. */
const FACT = /^\S{1,400}$/u;

/**
 * The part of a JSON value that the built-in catalog snapshot contains; undefined for none. It omits values of prose
 * keys, other texts than facts, and lists and objects that these omissions leave empty. The order is kept.
 */
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
