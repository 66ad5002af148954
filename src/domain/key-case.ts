/* Converts names of members between the code and the wire. Objects with names of a client must not be converted. */

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [rename(name), renamed(inner, rename)]));
}

/** The value with members in `snake_case`, at every depth. */
export const snakeCased = <Value>(value: Value): SnakeCased<Value> => renamed(value, snake) as SnakeCased<Value>;

/** The value with members in `camelCase`, at every depth. */
export const camelCased = (value: unknown): unknown => renamed(value, camel);

type SnakeName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeName<Rest>}`
  : Name;

/** The type of a value after `snakeCased`. */
export type SnakeCased<Value> = Value extends readonly (infer Item)[]
  ? readonly SnakeCased<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value as Name extends string ? SnakeName<Name> : never]: SnakeCased<Value[Name]> }
    : Value;
