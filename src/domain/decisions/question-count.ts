import { InvalidInput } from '../errors.ts';

/** Throws InvalidInput for more questions than a request may have. `questions` is a list, or an object by name. */
export function assertQuestionCount(questions: unknown, most: number): void {
  if (typeof questions !== 'object' || questions === null) return;
  const count = Array.isArray(questions) ? questions.length : Object.keys(questions).length;
  if (count > most)
    throw new InvalidInput(
      `litellm.BadRequestError: Invalid Decisions request: questions: it must have at most ${most} questions, not ${count}.`,
    );
}
