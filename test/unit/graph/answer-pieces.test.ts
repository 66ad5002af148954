import { describe, expect, it } from 'vitest';
import { createAnswers } from '../../../src/graphql/answers.ts';

/** Answers, and the number of times their serialisation asked whether to yield. */
function countedAnswers() {
  let asked = 0;
  const answers = createAnswers({
    due() {
      asked += 1;
      return null;
    },
  });
  return { answers, asked: () => asked };
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
  ])('yields inside a heavy item: %s', async (_where, list) => {
    const { answers, asked } = countedAnswers();
    const result = await answers.encoded({ data: { list } });
    expect(JSON.parse(answers.textOf(result))).toEqual({ data: { list } });
    expect(asked()).toBeGreaterThan(1_024);
  });
});
