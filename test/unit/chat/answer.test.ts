import { describe, expect, it } from 'vitest';
import { factsOf, searchUnitsOf } from '../../../src/wire/chat-completions/answer.ts';

const NOTHING = { outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

describe('the usage of an answer', () => {
  it('counts the total as input for embeddings and ranked results, where the answer has no other count', () => {
    for (const member of ['data', 'results'])
      expect(factsOf({ [member]: [], usage: { total_tokens: 7 } }).usage).toEqual({ inputTokens: 7, ...NOTHING });
  });

  it('is not derived from a total for choices', () => {
    expect(factsOf({ choices: [], usage: { total_tokens: 7 } }).usage).toBeNull();
  });

  it('is read from the counts when the answer has counts and a total, and is null without a valid count', () => {
    expect(factsOf({ data: [], usage: { prompt_tokens: 5, total_tokens: 7 } }).usage).toEqual({
      inputTokens: 5,
      ...NOTHING,
    });
    expect(factsOf({ data: [], usage: { total_tokens: -1 } }).usage).toBeNull();
    expect(factsOf({ data: [] }).usage).toBeNull();
  });

  it('counts audio separately, and has no counts of audio where the answer has none', () => {
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
  ])('has the search units of %j: %j', (answer, count) => {
    expect(searchUnitsOf(answer)).toBe(count);
  });
});
