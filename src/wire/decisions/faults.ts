import { InvalidInput } from '../../domain/errors.ts';
import type { Fields } from '../json/fields.ts';

/** Failure for a request that breaks the rules of its format. `where` is a path, `problem` completes the sentence. */
export const invalidDecision = (where: string, problem: string): InvalidInput =>
  new InvalidInput(`litellm.BadRequestError: Invalid Decisions request: ${where}: ${problem}.`);

/** Throws InvalidInput for a member that is not in `known`. */
export function assertKnown(value: Fields, known: readonly string[], where: string): void {
  for (const key in value)
    if (!known.includes(key)) throw invalidDecision(`${where}.${key.slice(0, 100)}`, 'the member is not known here');
}

/** An answer of an upstream that breaks the rules of its format. */
export class AnswerFault extends Error {}
