import { type Fields, isObject } from '../json/fields.ts';

const SNAKE = /_([a-z])/g;

/**
 * An object of Google's wire with its members named in camel case: both ways to write a name mean the same there. Goes one
 * level deep, because schemas and arguments inside hold names that are the caller's own.
 */
export function camelCased(value: unknown): Fields {
  if (!isObject(value)) return {};
  if (!Object.keys(value).some((name) => name.includes('_'))) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(SNAKE, (_, letter: string) => letter.toUpperCase()),
      inner,
    ]),
  );
}
