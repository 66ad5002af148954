import { InvalidInput } from '../../domain/errors.ts';
import type { Fields } from '../json/fields.ts';

/**
 * Error for a request that violates its format. `where` is the path of the member, `problem` a clause such as "it is
 * required".
 */
export const invalidDecision = (where: string, problem: string): InvalidInput =>
  new InvalidInput(`litellm.BadRequestError: Invalid Decisions request: ${where}: ${problem}.`);

/** Throws InvalidInput for a member that is not in `known`. */
export function assertKnown(value: Fields, known: readonly string[], where: string): void {
  for (const key in value)
    if (!known.includes(key)) throw invalidDecision(`${where}.${key.slice(0, 100)}`, 'the member is not known here');
}

/** An upstream's answer violates its format. The message is a clause such as "model is not a string". */
export class InvalidAnswer extends Error {}
