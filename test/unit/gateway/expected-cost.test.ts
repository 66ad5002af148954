import { describe, expect, it } from 'vitest';
import type { CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import {
  CHAT_COMPLETIONS,
  EMBEDDINGS,
  type Endpoint,
  GENERATE_CONTENT,
  IMAGE_GENERATIONS,
  MESSAGES,
  RERANK,
  RESPONSES,
  SPEECH,
  TRANSCRIPTIONS,
} from '../../../src/domain/inference/endpoint.ts';
import { type Usd, usdText } from '../../../src/domain/money.ts';
import { createCostExpectations } from '../../../src/gateway/admission/expected-cost.ts';
import { createPricer } from '../../../src/gateway/accounting/price.ts';
import { aDeployment } from '../../support/chat.ts';

const CATALOG: CatalogSnapshot = { id: '', takenAt: new Date(0), source: 'embedded', entries: [], find: () => null };
const USAGE = { inputTokens: 7, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const BY_TOKENS = { input_cost_per_token: 1, output_cost_per_token: 10 };

function expectations() {
  const price = createPricer(() => CATALOG);
  return createCostExpectations(price, () => CATALOG);
}

/** A request of the given number of bytes. */
const requestTo = (endpoint: Endpoint, body: Readonly<Record<string, unknown>>, size: number) => ({
  endpoint,
  body,
  bytes: new Uint8Array(size),
});

/** Expected cost of a request with `size` bytes. A token is estimated for 4 bytes: 400 bytes are 100 input tokens. */
function expected(endpoint: Endpoint, body: Readonly<Record<string, unknown>>, prices: object, size = 400): string {
  const deployment = aDeployment({ priceOverrides: { ...prices } });
  return usdText(expectations().of(deployment, requestTo(endpoint, body, size)).cost);
}

describe('the expected cost of a call', () => {
  it.each<[string, Endpoint, Readonly<Record<string, unknown>>, string]>([
    ['max_tokens', CHAT_COMPLETIONS, { max_tokens: 5 }, '150'],
    ['max_completion_tokens before max_tokens', CHAT_COMPLETIONS, { max_tokens: 5, max_completion_tokens: 4 }, '140'],
    ['the requested number of answers', CHAT_COMPLETIONS, { max_tokens: 5, n: 3 }, '250'],
    ['max_tokens of messages', MESSAGES, { max_tokens: 1 }, '110'],
    ['max_output_tokens of responses', RESPONSES, { max_output_tokens: 2 }, '120'],
    [
      'maxOutputTokens and candidateCount',
      GENERATE_CONTENT,
      { generationConfig: { maxOutputTokens: 3, candidateCount: 2 } },
      '160',
    ],
    ['1,024 tokens without a limit', CHAT_COMPLETIONS, {}, '10340'],
    ['1,024 tokens for an invalid limit', CHAT_COMPLETIONS, { max_tokens: 'many', n: 'no' }, '10340'],
    ['no output of embeddings', EMBEDDINGS, { max_tokens: 5 }, '100'],
  ])('follows the limits of a request: %s', (_what, endpoint, body, cost) => {
    expect(expected(endpoint, body, BY_TOKENS)).toBe(cost);
  });

  it('is bounded by the input and output limits of the model, and by 200,000 input tokens without a limit', () => {
    const bounded = { ...BY_TOKENS, max_input_tokens: 50, max_output_tokens: 2 };
    expect(expected(CHAT_COMPLETIONS, { max_tokens: 1e300 }, bounded)).toBe('70');
    expect(expected(CHAT_COMPLETIONS, {}, bounded)).toBe('70');
    expect(expected(EMBEDDINGS, {}, BY_TOKENS, 4_000_000)).toBe('200000');
  });

  it.each<[string, Endpoint, Readonly<Record<string, unknown>>, object, number, string]>([
    ['image', IMAGE_GENERATIONS, { prompt: 'x', n: 3 }, { output_cost_per_image: 0.5 }, 50, '1.5'],
    [
      'image, with a count that is text in a form',
      IMAGE_GENERATIONS,
      { n: '2' },
      { output_cost_per_image: 0.5 },
      50,
      '1',
    ],
    // 1,024 tokens of input and of output.
    ['image tokens', IMAGE_GENERATIONS, { prompt: 'x' }, BY_TOKENS, 50, '11264'],
    ['character', SPEECH, { input: 'x' }, { input_cost_per_character: 0.01 }, 90, '0.9'],
    // 16,000 bytes are estimated as one second of audio.
    ['second', TRANSCRIPTIONS, {}, { input_cost_per_second: 0.25 }, 64_000, '1'],
    ['search', RERANK, { query: 'x' }, { input_cost_per_query: 0.002 }, 9_000, '0.002'],
  ])('is computed from units other than text tokens: %s', (_what, endpoint, body, prices, size, cost) => {
    expect(expected(endpoint, body, prices, size)).toBe(cost);
  });

  it('is zero where no price is known, or the model is free', () => {
    expect(expected(CHAT_COMPLETIONS, {}, {})).toBe('0');
    expect(expected(CHAT_COMPLETIONS, {}, { input_cost_per_token: 0, output_cost_per_token: 0 })).toBe('0');
  });

  it('does not read the prompt', () => {
    const body = {
      max_tokens: 1,
      get messages(): never {
        throw new Error('It was read.');
      },
    };
    expect(expected(CHAT_COMPLETIONS, body, BY_TOKENS)).toBe('110');
  });
});

describe('the average of earlier calls', () => {
  const deployment = aDeployment({ priceOverrides: BY_TOKENS });
  const cost = (text: string): Usd => BigInt(text) as Usd;

  it('is the expected cost of calls without an output limit, of the same kind only', () => {
    const { of } = expectations();
    const call = requestTo(CHAT_COMPLETIONS, {}, 400);
    const before = of(deployment, call).cost;
    of(deployment, call).learn(cost('800'), USAGE);
    expect(of(deployment, call).cost).toBe(800n);
    expect(of(deployment, requestTo(CHAT_COMPLETIONS, {}, 420)).cost).toBe(800n);
    of(deployment, call).learn(cost('1600'), USAGE);
    // A moving average, in which a new cost counts an eighth.
    expect(of(deployment, call).cost).toBe(900n);
    for (const otherCall of [
      requestTo(CHAT_COMPLETIONS, {}, 40),
      requestTo(CHAT_COMPLETIONS, { n: 2 }, 400),
      requestTo(MESSAGES, {}, 400),
    ])
      expect(of(deployment, otherCall).cost > 900n).toBe(true);
    expect(of(aDeployment({ ...deployment, id: 'another' }), call).cost).toBe(before);
  });

  it('sets the expected input tokens of calls with an output limit, because images have many bytes and few tokens', () => {
    const { of } = expectations();
    const call = requestTo(CHAT_COMPLETIONS, { max_tokens: 2 }, 400_000);
    expect(usdText(of(deployment, call).cost)).toBe('100020');
    of(deployment, call).learn(cost('1'), USAGE);
    // The 7 input tokens of `USAGE`, and 2 output tokens.
    expect(usdText(of(deployment, call).cost)).toBe('27');
  });

  it('is the expected cost of the turns of a session', () => {
    const { of } = expectations();
    // 1,024 tokens of input and of output.
    expect(usdText(of(deployment, null).cost)).toBe('11264');
    of(deployment, null).learn(cost('5'), null);
    expect(of(deployment, null).cost).toBe(5n);
  });
});
