/*
 * Converts member names between `camelCase` in the code and `snake_case` on the wire. Not for objects whose member
 * names a client has chosen.
 */

/** A name in `snake_case`. */
export const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

function withRenamedMembers(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withRenamedMembers(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [rename(name), withRenamedMembers(inner, rename)]),
  );
}

/** The value with members in `snake_case`, at every depth. */
export const snakeCased = <Value>(value: Value): SnakeCased<Value> =>
  withRenamedMembers(value, snakeCase) as SnakeCased<Value>;

/** The value with members in `camelCase`, at every depth. */
export const camelCased = (value: unknown): unknown => withRenamedMembers(value, camelCase);

type SnakeName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeName<Rest>}`
  : Name;

/** The type of a value after `snakeCased`. */
export type SnakeCased<Value> = Value extends readonly (infer Item)[]
  ? readonly SnakeCased<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value as Name extends string ? SnakeName<Name> : never]: SnakeCased<Value[Name]> }
    : Value;
