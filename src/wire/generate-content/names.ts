import { isJsonObject } from '../../domain/json-object.ts';
import { type Fields } from '../json/fields.ts';

/** A name in camel case. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Object with member names in camel case. Google accepts camel case and snake case. Converts one level only, because
 * nested schemas and arguments contain names of the caller. Empty when the value is not an object.
 */
export function camelCased(value: unknown): Fields {
  if (!isJsonObject(value)) return {};
  if (!Object.keys(value).some((name) => name.includes('_'))) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [camelCase(name), inner]));
}
