import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { openRealtime } from '../../support/realtime-client.ts';
import { type RealtimeUpstream, startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

let upstream: FaultServer;
let realtimeUpstream: RealtimeUpstream;
let app: TestApp;

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const answerOf = (model: string) => ({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: USAGE,
});

const eventsOf = (model: string): string => {
  const chunk = (members: object) =>
    `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model, choices: [], ...members })}\n\n`;
  const choice = { index: 0, delta: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' };
  return `${chunk({ choices: [choice] })}${chunk({ usage: USAGE })}data: [DONE]\n\n`;
};

beforeAll(async () => {
  upstream = await startFaultServer();
  realtimeUpstream = await startRealtimeUpstream();
  upstream.answer((response, _socket, { body }) => {
    const { model, stream = false } = JSON.parse(body) as { readonly model: string; readonly stream?: boolean };
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    response.end(stream ? eventsOf(model) : JSON.stringify(answerOf(model)));
  });
  const connection = { api_base: `${upstream.url}/v1`, api_key: 'k' };
  // A call with one input token and one output token costs 0.02.
  const priced = { input_cost_per_token: 0.01, output_cost_per_token: 0.01 };
  const deployment = (name: string, params: object = priced, model_info: object = {}) => ({
    model_name: name,
    litellm_params: { model: `openai/${name}-up`, ...connection, ...params },
    model_info,
  });
  const access_windows = [
    { start: '00:00', end: '12:00', team_ids: ['red'] },
    { start: '12:00', end: '00:00', team_ids: ['red'] },
  ];
  const voice = { api_base: `${realtimeUpstream.url}/v1`, ...priced };
  app = await startApp({
    config: {
      guardrails: [
        {
          guardrail_name: 'words',
          litellm_params: {
            guardrail: 'litellm_content_filter',
            mode: 'pre_call',
            blocked_words: [{ keyword: 'forbiddenword', action: 'BLOCK' }],
          },
        },
      ],
      model_list: [
        deployment('big'),
        deployment('small'),
        deployment('other'),
        deployment('free', { input_cost_per_token: 0, output_cost_per_token: 0 }),
        deployment('guarded', { ...priced, guardrails: ['words'] }),
        deployment('voice', voice),
        deployment('small-voice', voice),
        deployment('reserved', priced, { access_windows }),
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
  await realtimeUpstream.stop();
});

/** Budget below the cost of one call: the first call is admitted, and the second is not. */
const BUDGET_FOR_ONE_CALL = { budget_limit: 0.00001, time_period: '1d' };
const ZERO_BUDGET = { budget_limit: 0, time_period: '1d' };

async function newKey(draft: object): Promise<{ key: string; token: string }> {
  const answer = await app.call('POST', '/key/generate', draft);
  expect(answer.status).toBe(200);
  return (await answer.json()) as { key: string; token: string };
}

interface ReceivedAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Model group in the headers of the answer. */
  readonly group: string | null;
}

async function chat(key: string, model = 'big', fields: object = {}): Promise<ReceivedAnswer> {
  const body = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
  const answer = await app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  const text = await answer.text();
  const value = text.startsWith('{') ? (JSON.parse(text) as unknown) : text;
  return { status: answer.status, body: value, group: answer.headers.get('x-litellm-model-group') };
}

interface SpendRow {
  readonly model: string;
  readonly model_group: string;
  readonly spend: number;
  readonly status: string;
}

/** The spend rows of a key, the oldest first. */
async function spendRowsOf(token: string): Promise<readonly SpendRow[]> {
  const day = new Date().toISOString().slice(0, 10);
  const period = `start_date=${day}%2000:00:00&end_date=${day}%2023:59:59&sort_order=asc`;
  const listed = await app.call('GET', `/spend/logs/v2?${period}&api_key=${token}`);
  const { data } = (await listed.json()) as { readonly data: readonly SpendRow[] };
  return data.map(({ model, model_group, spend, status }) => ({ model, model_group, spend, status }));
}

const modelBudgetError = (token: string, model: string) => ({
  error: {
    message: expect.stringMatching(
      new RegExp(
        `^LiteLLM Virtual Key: ${token}, key_alias: None, exceeded budget for model=${model}\\. Budget window: 1d\\. Budget resets at: \\d{4}-\\d\\d-\\d\\d 00:00:00 UTC$`,
      ),
    ) as string,
    type: 'budget_exceeded',
    param: null,
    code: '422',
  },
});

describe('budget_fallbacks of a key', () => {
  it('answer when the budget of the model is used up, and the spend row names the fallback', async () => {
    const { key, token } = await newKey({
      model_max_budget: { big: BUDGET_FOR_ONE_CALL },
      budget_fallbacks: { big: ['small'] },
    });
    expect(await chat(key)).toMatchObject({ status: 200, group: 'big', body: { model: 'big' } });
    expect(await chat(key)).toEqual({ status: 200, group: 'small', body: answerOf('small') });
    const row = { spend: 0.02, status: 'success' };
    await expect
      .poll(() => spendRowsOf(token))
      .toEqual([
        { ...row, model: 'openai/big-up', model_group: 'big' },
        { ...row, model: 'openai/small-up', model_group: 'small' },
      ]);
  });

  it('answer a stream', async () => {
    const { key, token } = await newKey({
      model_max_budget: { big: ZERO_BUDGET },
      budget_fallbacks: { big: ['small'] },
    });
    const answer = await chat(key, 'big', { stream: true });
    expect([answer.status, answer.group]).toEqual([200, 'small']);
    expect(answer.body).toContain('"model":"small"');
    await expect
      .poll(() => spendRowsOf(token))
      .toEqual([{ model: 'openai/small-up', model_group: 'small', spend: 0.02, status: 'success' }]);
  });

  it('open a realtime session', async () => {
    const budget = { model_max_budget: { voice: ZERO_BUDGET } };
    const { key } = await newKey({ ...budget, budget_fallbacks: { voice: ['unknown', 'small-voice'] } });
    const client = await openRealtime(app, {
      path: '/v1/realtime?model=voice',
      headers: { authorization: `Bearer ${key}` },
    });
    const session = await realtimeUpstream.session();
    expect(session.path).toBe('/v1/realtime?model=small-voice-up');
    client.socket.close(1000);
  });

  it('are tried in order; models that the key may not call, unknown ones and used-up ones are skipped', async () => {
    const { key } = await newKey({
      models: ['big', 'small', 'other', 'unknown'],
      model_max_budget: { big: ZERO_BUDGET, small: ZERO_BUDGET },
      budget_fallbacks: { big: ['free', 'unknown', 'small', 'big', 'other'] },
    });
    expect(await chat(key)).toMatchObject({ status: 200, group: 'other' });
  });

  it('are skipped where every deployment is reserved for another team', async () => {
    const { key } = await newKey({
      model_max_budget: { big: ZERO_BUDGET },
      budget_fallbacks: { big: ['reserved', 'other'] },
    });
    expect(await chat(key)).toMatchObject({ status: 200, group: 'other' });
  });

  it('may be aliases', async () => {
    const { key } = await newKey({
      aliases: { fast: 'big', cheap: 'small' },
      model_max_budget: { big: ZERO_BUDGET },
      budget_fallbacks: { big: ['cheap'] },
    });
    expect(await chat(key, 'fast')).toMatchObject({ status: 200, group: 'small' });
  });

  it('that form a cycle end with the refusal of the requested model', async () => {
    const { key, token } = await newKey({
      model_max_budget: { big: ZERO_BUDGET, small: ZERO_BUDGET },
      budget_fallbacks: { big: ['small'], small: ['big', 'small'] },
    });
    expect(await chat(key, 'big')).toMatchObject({ status: 422, body: modelBudgetError(token, 'big') });
    expect(await chat(key, 'small')).toMatchObject({ status: 422, body: modelBudgetError(token, 'small') });
  });

  it('do not lead to a model that the team of the key may not call', async () => {
    const response = await app.call('POST', '/team/new', { models: ['big'] });
    const { team_id } = (await response.json()) as { readonly team_id: string };
    const { key, token } = await newKey({
      team_id,
      model_max_budget: { big: ZERO_BUDGET },
      budget_fallbacks: { big: ['small'] },
    });
    expect(await chat(key)).toMatchObject({ status: 422, body: modelBudgetError(token, 'big') });
  });

  it('are not called when the budget of the key is used up, or when the model is free', async () => {
    const { key } = await newKey({ max_budget: 0, budget_fallbacks: { big: ['small'] } });
    expect(await chat(key)).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining('Budget has been exceeded! Key=None') as string } },
    });
    const free = await newKey({ model_max_budget: { free: ZERO_BUDGET }, budget_fallbacks: { free: ['small'] } });
    // Free models skip the budget check.
    expect(await chat(free.key, 'free')).toMatchObject({ status: 200, group: 'free' });
  });

  it('run the guardrails of the model that answers', async () => {
    const { key } = await newKey({ model_max_budget: { big: ZERO_BUDGET }, budget_fallbacks: { big: ['guarded'] } });
    const messages = [{ role: 'user', content: 'a forbiddenword here' }];
    expect((await chat(key)).group).toBe('guarded');
    expect((await chat(key, 'big', { messages })).status).toBe(400);
  });

  it('apply to /v1/messages', async () => {
    const { key } = await newKey({ model_max_budget: { big: ZERO_BUDGET }, budget_fallbacks: { big: ['small'] } });
    const answer = await app.call(
      'POST',
      '/v1/messages',
      { model: 'big', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 },
      { authorization: `Bearer ${key}` },
    );
    expect([answer.status, answer.headers.get('x-litellm-model-group')]).toEqual([200, 'small']);
    expect(await answer.json()).toMatchObject({ type: 'message', model: 'small' });
  });
});
