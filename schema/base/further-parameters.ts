import { InvalidInput } from '../../src/domain/errors.ts';

/** Reads the member `parameters` of a call. Throws InvalidInput for a value that is no object. */
export function readFurtherParameters(parameters: unknown): Readonly<Record<string, unknown>> {
  const read = parameters ?? {};
  if (typeof read === 'object' && !Array.isArray(read)) return read as Readonly<Record<string, unknown>>;
  throw new InvalidInput('`parameters` must be an object.', [
    { path: ['input', 'parameters'], rule: 'type', message: 'must be an object' },
  ]);
}
