import { describe, expect, it } from 'vitest';
import type { CatalogEntry, CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import type { Outcome, Usage } from '../../../src/domain/chat/chat.ts';
import { usdText } from '../../../src/domain/money.ts';
import { createPricer } from '../../../src/gateway/accounting/price.ts';
import { factsOf } from '../../../src/wire/chat-completions/answer.ts';
import { usageOf as messageUsageOf } from '../../../src/wire/messages/message.ts';
import { usageOfResponse } from '../../../src/domain/responses/usage.ts';
import { stepsOfResponse } from '../../../src/wire/responses/read-answer.ts';
import { createContentReader } from '../../../src/wire/generate-content/answer.ts';
import { createdVideo, reportedIn } from '../../../src/wire/reported-usage/reported.ts';
import { aDeployment } from '../../support/chat.ts';

type Row = Readonly<Record<string, unknown>>;

function catalogOf(row: Row): CatalogSnapshot {
  const entry: CatalogEntry = { id: 'up-1', provider: null, mode: 'chat', row };
  return {
    id: 'test',
    takenAt: new Date(0),
    source: 'embedded',
    entries: [entry],
    find: (id) => (id === entry.id ? entry : null),
  };
}

const NO_TOKENS: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** Cost by a row, as text. */
function cost(row: Row, used: Partial<Usage> | null, measured?: Outcome['measured']): string | null {
  const price = createPricer(() => catalogOf(row));
  const usage = used === null ? null : { ...NO_TOKENS, ...used };
  const priced = price(aDeployment({}), { usage, ...(measured === undefined ? {} : { measured }) });
  return priced === null ? null : usdText(priced);
}

const BASE = { input_cost_per_token: 1e-6, output_cost_per_token: 1e-5, cache_read_input_token_cost: 1e-7 };
/** A call that costs 600 x 1e-6 + 400 x 1e-7 + 100 x 1e-5 = 0.00164 by `BASE`. */
const CALL = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 400 };

describe('prices of a class of service', () => {
  const row = {
    ...BASE,
    input_cost_per_token_flex: 5e-7,
    output_cost_per_token_flex: 5e-6,
    cache_read_input_token_cost_flex: 5e-8,
    input_cost_per_token_priority: 2e-6,
    output_cost_per_token_priority: 2e-5,
    cache_read_input_token_cost_priority: 2e-7,
    input_cost_per_token_above_272k_tokens: 3e-6,
    output_cost_per_token_above_272k_tokens: 3e-5,
    cache_read_input_token_cost_above_272k_tokens: 3e-7,
    input_cost_per_token_above_272k_tokens_priority: 6e-6,
    output_cost_per_token_above_272k_tokens_priority: 6e-5,
    cache_read_input_token_cost_above_272k_tokens_priority: 6e-7,
  };
  /** A call that costs 200,000 x 3e-6 + 100,000 x 3e-7 + 100 x 3e-5 = 0.633 above the bound. */
  const LONG = { inputTokens: 300_000, outputTokens: 100, cacheReadTokens: 100_000 };

  it.each([
    ['a call without a class', row, CALL, '0.00164'],
    ['flex', row, { ...CALL, serviceTier: 'flex' as const }, '0.00082'],
    ['priority', row, { ...CALL, serviceTier: 'priority' as const }, '0.00328'],
    ['a call without a class, above a bound', row, LONG, '0.633'],
    ['priority, above a bound', row, { ...LONG, serviceTier: 'priority' as const }, '1.266'],
    // The regular price applies where the class has none.
    ['flex, above a bound', row, { ...LONG, serviceTier: 'flex' as const }, '0.633'],
    ['priority, of a model without such prices', BASE, { ...CALL, serviceTier: 'priority' as const }, '0.00164'],
    [
      'priority, of audio',
      { ...BASE, input_cost_per_audio_token: 1e-5, input_cost_per_audio_token_priority: 2e-5 },
      {
        inputTokens: 100,
        audio: { inputTokens: 100, outputTokens: 0, cacheReadTokens: 0 },
        serviceTier: 'priority' as const,
      },
      '0.002',
    ],
  ])('set the cost of %s', (_name, prices, used, expected) => {
    expect(cost(prices, used)).toBe(expected);
  });

  it('apply to the class that an answer names', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 1 };
    expect(factsOf({ choices: [], usage, service_tier: 'flex' }).usage?.serviceTier).toBe('flex');
    expect(factsOf({ choices: [], usage, service_tier: 'default' }).usage?.serviceTier).toBeUndefined();
    const response = { status: 'completed', usage: { input_tokens: 5, output_tokens: 1 }, service_tier: 'priority' };
    expect(stepsOfResponse(response).at(-1)).toMatchObject({ kind: 'usage', usage: { serviceTier: 'priority' } });
  });
});

describe('a bound of the price map', () => {
  it.each([32, 100, 128, 200, 256, 272, 512])(
    'at %ik tokens sets the prices of a whole call with more input',
    (bound) => {
      const row = {
        ...BASE,
        [`input_cost_per_token_above_${bound}k_tokens`]: 2e-6,
        [`output_cost_per_token_above_${bound}k_tokens`]: 2e-5,
        [`cache_read_input_token_cost_above_${bound}k_tokens`]: 2e-7,
      };
      const used = { inputTokens: bound * 1_000, outputTokens: 10, cacheReadTokens: 1_000 };
      const atBound = Number(cost(row, used));
      const above = Number(cost(row, { ...used, inputTokens: used.inputTokens + 1 }));
      // The sum of input without cached tokens, output, and cached tokens.
      expect(atBound).toBeCloseTo((bound * 1_000 - 1_000) * 1e-6 + 1e-4 + 1e-4, 9);
      expect(above).toBeCloseTo((bound * 1_000 - 999) * 2e-6 + 2e-4 + 2e-4, 9);
    },
  );
});

describe('web searches', () => {
  const row = {
    ...BASE,
    search_context_cost_per_query: {
      search_context_size_low: 0.01,
      search_context_size_medium: 0.02,
      search_context_size_high: 0.03,
    },
  };

  it('cost the price of a query, in addition to the tokens', () => {
    expect(cost(row, CALL)).toBe('0.00164');
    // Without a reported size, a search has the medium price.
    expect(cost(row, { ...CALL, webSearches: 3 })).toBe('0.06164');
    expect(cost(BASE, { ...CALL, webSearches: 3 })).toBe('0.00164');
  });

  it('are counted in messages and in responses', () => {
    const message = { input_tokens: 5, output_tokens: 1, server_tool_use: { web_search_requests: 2 } };
    expect(messageUsageOf(message)?.webSearches).toBe(2);
    const output = [{ type: 'web_search_call' }, { type: 'message' }, { type: 'web_search_call' }];
    expect(usageOfResponse({ output, usage: { input_tokens: 5, output_tokens: 1 } })?.webSearches).toBe(2);
    expect(usageOfResponse({ output: [], usage: { input_tokens: 5, output_tokens: 1 } })?.webSearches).toBeUndefined();
  });
});

describe('quantities that answers report', () => {
  it('are tools of a response; each container counts once', () => {
    const output = [
      { type: 'web_search_call' },
      { type: 'file_search_call' },
      { type: 'file_search_call' },
      { type: 'code_interpreter_call', container_id: 'c1' },
      { type: 'code_interpreter_call', container_id: 'c1' },
      { type: 'code_interpreter_call', container_id: 'c2' },
      { type: 'computer_call' },
    ];
    const tools = [{ type: 'function' }, { type: 'web_search', search_context_size: 'high' }];
    expect(usageOfResponse({ output, tools, usage: { input_tokens: 5, output_tokens: 1 } })).toMatchObject({
      webSearches: 1,
      searchSize: 'high',
      fileSearches: 2,
      codeSessions: 2,
      usesComputer: true,
    });
  });

  it('are cache writes for a day', () => {
    const usage = { input_tokens: 9, output_tokens: 1, input_tokens_details: { cache_write_tokens: 7 } };
    expect(usageOfResponse({ usage, prompt_cache_retention: '24h' })?.longCacheWriteTokens).toBe(7);
    expect(usageOfResponse({ usage })?.longCacheWriteTokens).toBeUndefined();
  });

  it('are searches and citations of Perplexity', () => {
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 1,
      citation_tokens: 30,
      num_search_queries: 2,
      search_context_size: 'low',
    };
    expect(factsOf({ choices: [], usage }).usage).toMatchObject({
      citationTokens: 30,
      webSearches: 2,
      searchSize: 'low',
    });
  });

  it('are media, searches and maps of Gemini', () => {
    const steps = createContentReader().read(
      {
        candidates: [
          {
            content: { parts: [{ text: 'x' }] },
            groundingMetadata: { webSearchQueries: ['a', 'b'], groundingChunks: [{ maps: { uri: 'u' } }] },
          },
        ],
        usageMetadata: {
          promptTokenCount: 100,
          candidatesTokenCount: 40,
          promptTokensDetails: [
            { modality: 'TEXT', tokenCount: 10 },
            { modality: 'AUDIO', tokenCount: 60 },
            { modality: 'VIDEO', tokenCount: 30 },
          ],
          cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
          candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 40 }],
          cachedContentTokenCount: 20,
        },
      },
      null,
    );
    expect(steps.at(-1)).toEqual({
      kind: 'usage',
      usage: {
        inputTokens: 100,
        outputTokens: 40,
        cacheReadTokens: 20,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        audio: { inputTokens: 60, outputTokens: 0, cacheReadTokens: 20 },
        image: { inputTokens: 0, outputTokens: 40, cacheReadTokens: 0 },
        video: { inputTokens: 30, outputTokens: 0, cacheReadTokens: 0 },
        webSearches: 2,
        mapSearches: 1,
      },
    });
  });

  it.each([
    [
      { usage_info: { pages_processed: 3 }, pages: [] },
      { unit: 'page', count: 3 },
    ],
    [
      { usage_info: { pages_processed: 3 }, document_annotation: '{}', pages: [] },
      { unit: 'annotated_page', count: 3 },
    ],
    [
      { usage_info: { pages_processed: 3, pages_processed_annotation: 3 }, pages: [] },
      { unit: 'annotated_page', count: 3 },
    ],
    [{ usage: { num_pages: 2, credits: 4 } }, { unit: 'credit', count: 4 }],
    [{ usage: { credits: 4 } }, undefined],
  ])('are pages or credits of documents: %j', (answer, measured) => {
    expect(reportedIn(answer)?.measured).toEqual(measured);
  });

  it.each([
    [
      { seconds: '8', size: '1280x720' },
      { unit: 'video_second', count: 8, resolution: '720p' },
    ],
    [
      { seconds: 4, size: '1080x1920' },
      { unit: 'video_second', count: 4, resolution: '1080p' },
    ],
    [
      { seconds: '4', size: '3840x2160' },
      { unit: 'video_second', count: 4, resolution: '4k' },
    ],
    [{ seconds: '4' }, { unit: 'video_second', count: 4, resolution: null }],
    [{ seconds: 'long' }, undefined],
    [{ seconds: '4', status: 'failed' }, undefined],
  ])('are seconds of videos: %j', (video, measured) => {
    expect(createdVideo({ object: 'video', status: 'queued', ...video })).toEqual(measured);
    expect(createdVideo({ object: 'list', ...video })).toBeUndefined();
  });
});

describe('off-peak hours', () => {
  const row = {
    input_cost_per_token: 3e-6,
    output_cost_per_token: 3e-6,
    off_peak_pricing: {
      input_cost_per_token: 1e-6,
      weekday_timezone: 'Asia/Shanghai',
      windows: [
        { hours_utc: ['00:00-01:00', '10:00-00:00'], weekdays: [1, 2, 3, 4, 5] },
        { hours_utc: '00:00-00:00', weekdays: [6, 7] },
      ],
    },
  };
  it.each([
    // A Tuesday.
    ['2026-11-24T00:59:59Z', '0.001'],
    ['2026-11-24T01:00:00Z', '0.003'],
    ['2026-11-24T09:59:59Z', '0.003'],
    ['2026-11-24T10:00:00Z', '0.001'],
    // A Saturday.
    ['2026-11-28T05:00:00Z', '0.001'],
    // Monday in Shanghai, still Sunday in UTC: off-peak on both days.
    ['2026-11-29T16:30:00Z', '0.001'],
    // Monday in Shanghai and in UTC.
    ['2026-11-30T05:00:00Z', '0.003'],
  ])('set the cost at %s to %s', (time, expected) => {
    const price = createPricer(
      () => catalogOf(row),
      undefined,
      () => new Date(time),
    );
    const priced = price(aDeployment({}), { usage: { ...NO_TOKENS, inputTokens: 1_000 } });
    expect(priced === null ? null : usdText(priced)).toBe(expected);
  });
});

describe('units other than tokens', () => {
  it.each([
    ['queries', { input_cost_per_query: 0.002 }, { unit: 'query', count: 3 } as const, '0.006'],
    ['characters', { input_cost_per_character: 3e-5 }, { unit: 'character', count: 100 } as const, '0.003'],
    ['seconds', { input_cost_per_second: 0.0001 }, { unit: 'second', count: 1.5 } as const, '0.00015'],
    ['seconds of the output', { output_cost_per_second: 0.0002 }, { unit: 'second', count: 2 } as const, '0.0004'],
  ])('have their own price: %s', (_name, row, measured, expected) => {
    expect(cost(row, null, measured)).toBe(expected);
  });
});
