import { withDeadline } from '../../src/domain/with-deadline.ts';

/** Time that a server of a variable has for its first answer, in ms. */
const ANSWER_MS = 10_000;

/**
 * Throws when the server that a variable names does not answer `ask` in time. Without this check, each test of the
 * server would wait until its own deadline.
 */
export async function assertAnswers(
  variable: string,
  url: string,
  ask: (url: URL) => Promise<unknown>,
  milliseconds = ANSWER_MS,
): Promise<void> {
  try {
    await withDeadline(ask(new URL(url)), milliseconds, () => {
      throw new Error(`No answer within ${milliseconds} ms.`);
    });
  } catch (cause) {
    throw new Error(`The server of ${variable} does not answer. Start it, or unset the variable.`, { cause });
  }
}
