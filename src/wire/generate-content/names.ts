import { isJsonObject } from '../../domain/json-object.ts';
import { type Fields } from '../json/fields.ts';

const SNAKE = /_([a-z])/g;

/**
 * Object with member names in camel case. Google accepts camel case and snake case. Converts one level only, because
 * nested schemas and arguments contain names of the caller. Empty when the value is not an object.
 */
export function camelCased(value: unknown): Fields {
  if (!isJsonObject(value)) return {};
  if (!Object.keys(value).some((name) => name.includes('_'))) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(SNAKE, (_, letter: string) => letter.toUpperCase()),
      inner,
    ]),
  );
}
