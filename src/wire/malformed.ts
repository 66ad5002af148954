import { InvalidInput } from '../domain/errors.ts';

/** A member of a request that breaks its dialect's rules. `where` is its place, e.g. `messages[2].role`; `wanted` completes "must be". */
export function malformed(where: string, wanted: string): InvalidInput {
  const message = `Invalid value for '${where}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['body', where], rule: 'value', message }]);
}
