import { InvalidInput } from '../../src/domain/errors.ts';

/** A JSON argument that must be an object; empty when absent. Throws InvalidInput. */
export function readObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return { ...value };
  throw new InvalidInput(`\`${name}\` must be an object.`, [
    { path: ['input', name], rule: 'type', message: 'must be an object' },
  ]);
}
