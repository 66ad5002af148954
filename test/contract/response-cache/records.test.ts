import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newTrace } from '../inference/trace-spans.ts';
import { contentFilter } from '../guardrails/guarded-app.ts';
import { POLLING } from '../../support/polling.ts';
import { type CachedApp, startCached } from './cached-app.ts';

const CHAT = '/v1/chat/completions';
const SECRET = 'john.doe@example.com';

let cached: CachedApp;
beforeAll(async () => {
  const email = (action: string) => [{ pattern_type: 'prebuilt', pattern_name: 'email', action }];
  cached = await startCached({
    general: { store_prompts_in_spend_logs: true },
    guardrails: [
      contentFilter('words', { blocked_words: [{ keyword: 'forbiddenword' }] }),
      contentFilter('after', { mode: 'post_call', patterns: email('MASK') }),
      contentFilter('block-after', { mode: 'post_call', patterns: email('BLOCK') }),
    ],
    modelGuardrails: ['block-after'],
  });
});
afterAll(() => cached.stop());

const chat = (text: string, members: object = {}) => ({
  model: 'chat',
  messages: [{ role: 'user', content: text }],
  ...members,
});
const read = async (path: string): Promise<unknown> => (await cached.app.call('GET', path)).json();

interface LogRow {
  readonly request_id: string;
  readonly cache_hit: string;
  readonly cache_key: string;
  readonly spend: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly status: string;
}

describe('records of a cached answer', () => {
  it('spend rows, headers, trace and reports have the hit with cost 0', async () => {
    const key = await cached.newKey({ max_budget: 10 });
    const today = new Date().toISOString().slice(0, 10);
    const traces = [newTrace(), newTrace()];
    const answers = [];
    for (const { headers } of traces) answers.push(await cached.ask(CHAT, chat('records'), { ...headers, ...key }));
    const [first, second] = answers;
    const cacheKey = first?.headers['x-litellm-cache-key'];
    expect(Number(first?.headers['x-litellm-response-cost'])).toBe(0.039);
    expect(Number(second?.headers['x-litellm-response-cost'])).toBe(0);
    expect(Number(second?.headers['x-litellm-key-spend'])).toBe(0.039);
    const rows = await vi.waitUntil(async () => {
      const found = (await read(`/spend/logs?api_key=${key.hash}`)) as readonly LogRow[];
      return found.length === 2 && found;
    }, POLLING);
    const facts = rows.map(({ request_id: id, cache_hit: hit, cache_key: shown, spend, ...row }) => ({
      id: id.replace(/\d+(\.\d+)?$/, ''),
      hit,
      shown,
      spend,
      tokens: [row.prompt_tokens, row.completion_tokens],
      status: row.status,
    }));
    expect(facts).toHaveLength(2);
    expect(facts).toContainEqual({
      id: 'chatcmpl-a',
      hit: 'None',
      shown: 'Cache OFF',
      spend: 0.039,
      tokens: [9, 3],
      status: 'success',
    });
    const hit = facts.find((row) => row.hit === 'True');
    expect(hit).toEqual({
      id: expect.stringMatching(/^chatcmpl-a\d+_cache_hit$/),
      hit: 'True',
      shown: cacheKey,
      spend: 0,
      tokens: [9, 3],
      status: 'success',
    });
    const trace = (await read(`/v1/traces/${traces[1]?.traceId}`)) as {
      spans: readonly { span_id: string; type: string }[];
    };
    const span = trace.spans.find(({ type }) => type === 'llm');
    const query = 'query ($t: ID!, $s: ID!) { span(traceId: $t, spanId: $s) { attributes output } }';
    const variables = { t: traces[1]?.traceId, s: span?.span_id };
    const answer = await cached.app.call('POST', '/graphql', { query, variables });
    const text = await answer.text();
    expect(text).toContain('litellm.cache_hit');
    expect(text).toContain(String(cacheKey));
    const report = (await read(`/global/activity/cache_hits?start_date=${today}&end_date=${today}`)) as {
      groups: readonly Record<string, unknown>[];
      totals: Record<string, unknown>;
    };
    expect(report.groups).toContainEqual({
      call_type: 'acompletion',
      api_requests: 2,
      cache_hits: 1,
      failed_requests: 0,
      cached_completion_tokens: 3,
      generated_completion_tokens: 3,
    });
    expect(report.totals).toEqual({
      api_requests: 2,
      cache_hits: 1,
      failed_requests: 0,
      cached_completion_tokens: 3,
      cache_hit_ratio: 0.5,
    });
    const leakage = (await read(
      `/user/daily/activity/aggregated/cache_leakage_keys?start_date=${today}&end_date=${today}`,
    )) as { api_keys: readonly { api_key: string; metrics: Record<string, unknown> }[] };
    // Tokens of a hit do not count, because no provider received them.
    expect(leakage.api_keys.find(({ api_key: hash }) => hash === key.hash)?.metrics).toMatchObject({
      prompt_tokens: 9,
    });
  });

  it('/metrics and the graph count hits', async () => {
    const text = await (await cached.app.call('GET', '/metrics')).text();
    expect(text).toMatch(/lensgate_response_cache_total\{result="hit"\} [1-9]/);
    expect(text).toMatch(/lensgate_response_cache_memory_bytes [1-9]/);
    const query = '{ responseCache { isOn type scope hits misses entries } }';
    const answer = (await (await cached.app.call('POST', '/graphql', { query })).json()) as {
      data: { responseCache: Record<string, unknown> };
    };
    expect(answer.data.responseCache).toMatchObject({ isOn: true, type: 'local', scope: 'team' });
    expect(Number(answer.data.responseCache['hits'])).toBeGreaterThan(0);
  });
});

describe('guardrails and cached answers', () => {
  /** Sets the text of the next answers. */
  const answerWith = (text: string): void =>
    cached.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'chatcmpl-g',
          object: 'chat.completion',
          created: 1,
          model: 'up',
          choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
        }),
      );
    });

  it('guardrails of the caller check requests before the cache, and cached answers', async () => {
    answerWith(`write to ${SECRET}`);
    const before = cached.upstreamCalls();
    const plain = await cached.ask(CHAT, chat('guarded one'));
    expect(plain.text).toContain(SECRET);
    const masked = await cached.ask(CHAT, chat('guarded one', { guardrails: ['after'] }));
    expect(masked.status).toBe(200);
    expect(masked.text).not.toContain(SECRET);
    const blocked = await cached.ask(CHAT, chat('guarded one', { guardrails: ['block-after'] }));
    expect(blocked.status).toBe(400);
    // Edits of guardrails are not stored.
    expect((await cached.ask(CHAT, chat('guarded one'))).text).toBe(plain.text);
    expect(cached.upstreamCalls()).toBe(before + 1);
    await cached.ask(CHAT, chat('forbiddenword'));
    expect((await cached.ask(CHAT, chat('forbiddenword', { guardrails: ['words'] }))).status).toBe(400);
  });

  it('guardrails of a deployment check cached answers, too', async () => {
    answerWith(`write to ${SECRET}`);
    const body = chat('deployment', { model: 'guarded' });
    const before = cached.upstreamCalls();
    expect([(await cached.ask(CHAT, body)).status, (await cached.ask(CHAT, body)).status]).toEqual([400, 400]);
    expect(cached.upstreamCalls()).toBeLessThanOrEqual(before + 2);
  });
});
