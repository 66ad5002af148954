import { InvalidInput } from '../domain/errors.ts';

/**
 * Error for a member of a request that violates its dialect. `where` is its path, for example `messages[2].role`.
 * `expected` completes "it must be".
 */
export function malformed(where: string, expected: string): InvalidInput {
  const message = `Invalid value for '${where}': it must be ${expected}.`;
  return new InvalidInput(message, [{ path: ['body', where], rule: 'value', message }]);
}
