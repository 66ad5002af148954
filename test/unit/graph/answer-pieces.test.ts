import { describe, expect, it } from 'vitest';
import { createAnswers } from '../../../src/graphql/answers.ts';

/** Answers, and the number of checks whether their serialisation must yield. */
function countedAnswers() {
  let yieldChecks = 0;
  const answers = createAnswers({
    due() {
      yieldChecks += 1;
      return null;
    },
  });
  return { answers, yieldChecks: () => yieldChecks };
}

const LIGHT = 'x';
/** A megabyte in 1,024 members, which is more than one piece. */
const HEAVY = Object.fromEntries(Array.from({ length: 1_024 }, (_, index) => [`m${index}`, 'y'.repeat(1_024)]));

describe('the serialisation of a list', () => {
  it.each([
    ['alone', [HEAVY]],
    ['first', [HEAVY, LIGHT]],
    ['last', [LIGHT, HEAVY]],
    ['between light items', [LIGHT, LIGHT, HEAVY, LIGHT]],
  ])('checks inside a heavy item whether it must yield: %s', async (_where, list) => {
    const { answers, yieldChecks } = countedAnswers();
    const result = await answers.encoded({ data: { list } });
    expect(JSON.parse(answers.textOf(result))).toEqual({ data: { list } });
    expect(yieldChecks()).toBeGreaterThan(1_024);
  });
});
