import { describe, expect, it } from 'vitest';
import { factsOf, searchUnitsOf } from '../../../src/wire/chat-completions/answer.ts';

const NOTHING = { outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

describe('the usage of an answer', () => {
  it('of embeddings or ranked results counts the total as input where the answer has no other count', () => {
    for (const member of ['data', 'results'])
      expect(factsOf({ [member]: [], usage: { total_tokens: 7 } }).usage).toEqual({ inputTokens: 7, ...NOTHING });
  });

  it('of choices is not derived from a total', () => {
    expect(factsOf({ choices: [], usage: { total_tokens: 7 } }).usage).toBeNull();
  });

  it('is read from the counts when the answer has counts and a total', () => {
    expect(factsOf({ data: [], usage: { prompt_tokens: 5, total_tokens: 7 } }).usage).toEqual({
      inputTokens: 5,
      ...NOTHING,
    });
    expect(factsOf({ data: [], usage: { total_tokens: -1 } }).usage).toBeNull();
    expect(factsOf({ data: [] }).usage).toBeNull();
  });

  it('of audio is counted separately, and absent where the answer has no audio', () => {
    const counted = {
      prompt_tokens: 20,
      completion_tokens: 9,
      prompt_tokens_details: { audio_tokens: 12 },
      completion_tokens_details: { audio_tokens: 7 },
    };
    expect(factsOf({ choices: [], usage: counted }).usage).toEqual({
      ...NOTHING,
      inputTokens: 20,
      outputTokens: 9,
      audio: { inputTokens: 12, outputTokens: 7, cacheReadTokens: 0 },
    });
    const withoutAudio = { ...counted, prompt_tokens_details: { audio_tokens: 0 }, completion_tokens_details: null };
    expect(factsOf({ choices: [], usage: withoutAudio }).usage).toEqual({
      ...NOTHING,
      inputTokens: 20,
      outputTokens: 9,
    });
  });

  it.each([
    [{ meta: { billed_units: { search_units: 2 } } }, 2],
    [{ meta: { billed_units: { search_units: 1.5 } } }, null],
    [{ meta: { billed_units: {} } }, null],
    [{ meta: null }, null],
    [{}, null],
  ])('of searches in %j is %j', (answer, count) => {
    expect(searchUnitsOf(answer)).toBe(count);
  });
});
