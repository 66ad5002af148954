import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

const DAYS = 'start_date=2026-01-01&end_date=2100-01-01';
const MESSAGES = [{ role: 'user', content: 'hi' }];

const client = tenancyClient({
  config: {
    model_list: [
      {
        model_name: 'priced',
        litellm_params: { model: 'demo', input_cost_per_token: 0.001, output_cost_per_token: 0.002 },
      },
      {
        model_name: 'dead',
        litellm_params: { model: 'openai/x', api_base: 'http://127.0.0.1:1/v1', api_key: 'k', max_retries: 0 },
      },
    ],
    router_settings: { num_retries: 0 },
  },
});

/** Input and output tokens of successful calls by endpoint. */
const tokens: Record<string, readonly [number, number]> = {};

beforeAll(async () => {
  const chatTokens: [number, number] = [0, 0];
  for (const model of ['priced', 'priced', 'dead']) {
    const { body } = await client.post('/v1/chat/completions', { model, messages: MESSAGES });
    const usage = body['usage'] as Readonly<Record<string, number>> | undefined;
    chatTokens[0] += usage?.['prompt_tokens'] ?? 0;
    chatTokens[1] += usage?.['completion_tokens'] ?? 0;
  }
  tokens['/chat/completions'] = chatTokens;
  const answer = await client.post('/v1/messages', { model: 'priced', max_tokens: 5, messages: MESSAGES });
  const usage = answer.body['usage'] as Readonly<Record<string, number>>;
  tokens['/messages'] = [usage['input_tokens'] ?? 0, usage['output_tokens'] ?? 0];
});

const metricsOf = (endpoint: string, succeeded: number, failed: number) => {
  const [prompt, completion] = tokens[endpoint] ?? [0, 0];
  return {
    successful_requests: succeeded,
    failed_requests: failed,
    api_requests: succeeded + failed,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    spend: Number((prompt * 0.001 + completion * 0.002).toFixed(9)),
  };
};

it('dailyActivity.user 200: successes, failures, tokens and spend of each endpoint by day', async () => {
  const { body } = await client.get(`/user/daily/activity?${DAYS}`);
  const days = body['results'] as readonly {
    readonly date: string;
    readonly breakdown: Readonly<Record<string, Json>>;
  }[];
  expect(days.map(({ date }) => date)).toEqual([new Date().toISOString().slice(0, 10)]);
  const endpoints = days[0]?.breakdown['endpoints'] as Readonly<Record<string, { readonly metrics: Json }>>;
  expect(Object.keys(endpoints).toSorted()).toEqual(['/chat/completions', '/messages']);
  expect(endpoints['/chat/completions']?.metrics).toMatchObject(metricsOf('/chat/completions', 2, 1));
  expect(endpoints['/messages']?.metrics).toMatchObject(metricsOf('/messages', 1, 0));
});

it('the graph has the same sums, with the last call and the days of each endpoint', async () => {
  const query =
    '{ endpointActivity { endpoint lastSeenAt sums { succeeded failed inputTokens outputTokens costUsd } series { date sums { succeeded failed } } } }';
  const { body } = await client.post('/graphql', { query });
  const endpointRows = (body['data'] as Json)['endpointActivity'] as readonly Json[];
  const today = new Date().toISOString().slice(0, 10);
  expect(endpointRows.map(({ lastSeenAt: _lastSeenAt, ...row }) => row)).toEqual(
    [
      ['/chat/completions', 2, 1],
      ['/messages', 1, 0],
    ].map(([endpoint, succeeded, failed]) => {
      const { spend, ...sums } = metricsOf(String(endpoint), Number(succeeded), Number(failed));
      return {
        endpoint,
        sums: {
          succeeded,
          failed,
          inputTokens: sums.prompt_tokens,
          outputTokens: sums.completion_tokens,
          costUsd: String(spend),
        },
        series: [{ date: today, sums: { succeeded, failed } }],
      };
    }),
  );
  expect(endpointRows.every(({ lastSeenAt }) => Date.now() - Date.parse(String(lastSeenAt)) < 60_000)).toBe(true);
});
