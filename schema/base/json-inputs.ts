import { InvalidInput } from '../../src/domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';

/** A JSON argument that must be an object; empty when absent. Throws InvalidInput. */
export function readObject(value: unknown, name: string): JsonObject {
  if (value === null || value === undefined) return {};
  if (isJsonObject(value)) return value;
  throw new InvalidInput(`\`${name}\` must be an object.`, [
    { path: ['input', name], rule: 'type', message: 'must be an object' },
  ]);
}

/** A JSON argument that is an object, null or absent. Throws InvalidInput. */
export const readObjectOrNull = (value: unknown, name: string): JsonObject | null =>
  value === null || value === undefined ? null : readObject(value, name);

/** A JSON argument that must be an object of texts; empty when absent. Throws InvalidInput. */
export function readTexts(value: unknown, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(readObject(value, name)).map(([member, text]): [string, string] => {
      if (typeof text === 'string') return [member, text];
      throw new InvalidInput(`\`${name}\` must be an object of texts.`, [
        { path: ['input', name, member], rule: 'string', message: 'must be a text' },
      ]);
    }),
  );
}
