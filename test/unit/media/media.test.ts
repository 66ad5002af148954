import { describe, expect, it } from 'vitest';
import { IMAGE_GENERATIONS, TRANSCRIPTIONS } from '../../../src/domain/inference/endpoint.ts';
import { itemCount } from '../../../src/wire/json/members.ts';
import { MEDIA } from '../../../src/wire/media/native.ts';
import { randomFrom } from '../../support/random.ts';

const TEXT_LIMIT = 9;

const outcomeOf = (medium: 'image' | 'transcript', answer: unknown, body: Record<string, unknown> = {}) => {
  const endpoint = medium === 'image' ? IMAGE_GENERATIONS : TRANSCRIPTIONS;
  const whole = MEDIA[medium].whole(Buffer.from(JSON.stringify(answer)), {
    endpoint,
    model: 'm',
    textLimit: TEXT_LIMIT,
    body,
  });
  return whole === null || 'error' in whole ? whole : whole.outcome;
};

describe('the usage of an image', () => {
  const inputDetails = { text_tokens: 10, image_tokens: 30 };

  it.each([
    ['its input and output', { ...inputDetails }, undefined, { inputTokens: 30, outputTokens: 7, cacheReadTokens: 0 }],
    [
      'the output of the image only',
      inputDetails,
      { image_tokens: 5, text_tokens: 2 },
      { inputTokens: 30, outputTokens: 5, cacheReadTokens: 0 },
    ],
    [
      'the cached image input',
      { ...inputDetails, cached_tokens: 20, cached_tokens_details: { image_tokens: 15 } },
      undefined,
      { inputTokens: 30, outputTokens: 7, cacheReadTokens: 15 },
    ],
    [
      'the cached tokens above the text tokens as cached image input',
      { ...inputDetails, cached_tokens: 25 },
      undefined,
      { inputTokens: 30, outputTokens: 7, cacheReadTokens: 15 },
    ],
    [
      'no cached image input where the text tokens may be all of the cached ones',
      { ...inputDetails, cached_tokens: 10 },
      undefined,
      { inputTokens: 30, outputTokens: 7, cacheReadTokens: 0 },
    ],
  ])('has %s', (_what, input_tokens_details, output_tokens_details, image) => {
    const usage = { input_tokens: 40, output_tokens: 7, input_tokens_details, output_tokens_details };
    expect(outcomeOf('image', { data: [], usage })).toMatchObject({
      usage: { inputTokens: 40, outputTokens: 7, image },
    });
  });

  it('is null without counts, and the images are measured', () => {
    expect(outcomeOf('image', { data: [{}, {}], usage: {} }, { size: '1x1', quality: 'auto' })).toMatchObject({
      usage: null,
      measured: { unit: 'image', count: 2, size: '1x1', quality: 'auto' },
    });
    expect(outcomeOf('image', { data: [{}], quality: 'high', size: '2x2' }, { size: '1x1' })).toMatchObject({
      measured: { count: 1, size: '2x2', quality: 'high' },
    });
    expect(outcomeOf('image', { data: 'none' })).toBeNull();
  });
});

describe('a transcript', () => {
  it.each([
    [{ usage: { type: 'duration', seconds: 12 }, duration: 11.5 }, 12],
    [{ duration: 8.470000267028809 }, 8.470000267028809],
    [{ duration: '8.47' }, 8.47],
    [{ duration: 0 }, 0],
  ])('has the duration of %j', (answer, count) => {
    expect(outcomeOf('transcript', { text: 'x', ...answer })).toMatchObject({
      usage: null,
      measured: { unit: 'second', count },
    });
  });

  it.each([{}, { duration: '' }, { duration: 'long' }, { duration: -1 }, { duration: 1e12 }, { duration: null }])(
    'has no duration for %j',
    (answer) => {
      expect(outcomeOf('transcript', { text: 'x', ...answer })).not.toHaveProperty('measured');
    },
  );

  it('has its text up to the limit, and is null without a text', () => {
    expect(outcomeOf('transcript', { text: 'hello there' })).toMatchObject({
      text: 'hello there'.slice(0, TEXT_LIMIT),
    });
    expect(outcomeOf('transcript', { words: [] }, { response_format: 'text' })).toBeNull();
  });

  it('counts input that is not text as audio', () => {
    const usage = { input_tokens: 14, output_tokens: 5, input_token_details: { text_tokens: 4 } };
    expect(outcomeOf('transcript', { text: 'x', usage })).toMatchObject({ usage: { audio: { inputTokens: 10 } } });
  });
});

it('the counted items of an array equal the items that a JSON parser finds', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = randomFrom(seed);
    const pieces: readonly unknown[] = ['a]"\\', { b: ['[', '}'] }, 1, null, [], [[1], '"'], {}, 'x,y', true];
    const data = Array.from({ length: random(6) }, () => pieces[random(pieces.length)]);
    const value = random(2) === 0 ? { data, usage: 1 } : { first: '[', data };
    expect(itemCount(Buffer.from(JSON.stringify(value, null, random(3))), 'data')).toBe(data.length);
  }
  for (const json of ['', '[]', '{}', '{"data":1}', '{"data":[1', '{"data":[1 2]}', '{"data":[,]}'])
    expect(itemCount(Buffer.from(json), 'data')).toBeNull();
});
