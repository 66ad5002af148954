/* Names of members between the code and the wire. Values of open objects must not pass here: their names would change. */

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [rename(name), renamed(inner, rename)]));
}

/** The value with members in `snake_case`, at every depth. */
export const snakeCased = (value: unknown): unknown => renamed(value, snake);

/** The value with members in `camelCase`, at every depth. */
export const camelCased = (value: unknown): unknown => renamed(value, camel);
