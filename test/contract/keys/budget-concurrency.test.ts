import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const PATH = '/v1/chat/completions';
const MESSAGES = [{ role: 'user', content: 'Hello' }];
const CONCURRENT_CALLS = 200;
const USAGE = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };

let app: TestApp;
let upstream: FaultServer;
/** Unanswered calls at the upstream, with the upstream's model name. */
let pending: { readonly model: string; readonly response: ServerResponse }[] = [];

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-up' };
  // Input is free and an output token costs 1 USD: a call with one output token costs exactly 1 USD.
  const priced = { ...params, input_cost_per_token: 0, output_cost_per_token: 1 };
  app = await startApp({
    config: {
      // One key may use all connections, so that its 200 calls are open at the same time.
      general_settings: { upstream_connection_share: 1 },
      model_list: [
        { model_name: 'paid', litellm_params: { ...priced, model: 'openai/paid-up' } },
        { model_name: 'learned', litellm_params: { ...priced, model: 'openai/learned-up' } },
        { model_name: 'spare', litellm_params: { ...priced, model: 'openai/spare-up' } },
        { model_name: 'unpriced', litellm_params: { ...params, model: 'openai/unpriced-up' } },
        { model_name: 'free', litellm_params: { ...priced, model: 'openai/free-up', output_cost_per_token: 0 } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

beforeEach(() => {
  pending = [];
  upstream.answer((response, _socket, { body }) => {
    const { model } = JSON.parse(body) as { model: string };
    pending.push({ model, response });
  });
});

/** Deadline for polled states. A loaded machine needs seconds for 200 calls. */
const POLL_OPTIONS = { timeout: 60_000, interval: 20 };

interface Key {
  readonly authorization: string;
  readonly name: string;
}

async function newKey(budget: number): Promise<Key> {
  const { key } = (await (await app.call('POST', '/key/generate', { max_budget: budget })).json()) as { key: string };
  return { authorization: `Bearer ${key}`, name: `sk-...${key.slice(-4)}` };
}

async function spendOf({ authorization }: Key): Promise<number> {
  const answer = await app.call('GET', '/key/info', undefined, { authorization });
  return ((await answer.json()) as { info: { spend: number } }).info.spend;
}

/** Sends concurrent calls. Collects their statuses and refusals. */
function sendConcurrently(count: number, { authorization }: Key, body: object) {
  const statuses: number[] = [];
  const refusals: unknown[] = [];
  const calls = Array.from({ length: count }, async () => {
    const answer = await app.call('POST', PATH, { max_tokens: 1, messages: MESSAGES, ...body }, { authorization });
    const text = await answer.text();
    statuses.push(answer.status);
    if (answer.status === 422) refusals.push(JSON.parse(text));
    return answer.status;
  });
  return { statuses, refusals, ended: () => Promise.all(calls) };
}

const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: USAGE,
};

function answerPending(): void {
  for (const { model, response } of pending.splice(0)) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...ANSWER, model }));
  }
}

function failPending(failingModel: string): void {
  const failing = pending.filter(({ model }) => model === failingModel);
  pending = pending.filter(({ model }) => model !== failingModel);
  for (const { response } of failing) {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'no', type: 't' } }));
  }
}

const event = (value: object | string): string =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const chunk = (members: object): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  ...members,
});

/** Sends the first chunk of all unanswered calls. */
function startPendingStreams(): readonly ServerResponse[] {
  return pending.splice(0).map(({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(chunk({ choices: [{ index: 0, delta: { content: 'Hi' } }] })));
    return response;
  });
}

function endStream(response: ServerResponse): void {
  response.write(event(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })));
  response.end(`${event(chunk({ choices: [], usage: USAGE }))}${event('[DONE]')}`);
}

async function openReservations(): Promise<number> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  return Number(/^lensgate_budget_reservations (\d+)$/m.exec(text)?.[1]);
}

const budgetError = (key: Key, cost: string, budget: string) => ({
  error: {
    message: `Budget has been exceeded! Key=None (${key.name}) Current cost: ${cost}, Max budget: ${budget}`,
    type: 'budget_exceeded',
    param: null,
    code: '422',
  },
});

describe('200 concurrent calls with a budget for five', () => {
  it('five are admitted, and the others are refused with the budget error', async () => {
    const key = await newKey(5);
    const calls = sendConcurrently(CONCURRENT_CALLS, key, { model: 'paid' });
    await expect.poll(() => calls.statuses.length + pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
    expect(pending.length).toBe(5);
    expect(calls.refusals).toEqual(Array.from({ length: CONCURRENT_CALLS - 5 }, () => budgetError(key, '5.0', '5.0')));
    expect(await spendOf(key)).toBe(0);
    answerPending();
    const statuses = await calls.ended();
    expect(statuses.filter((status) => status === 200).length).toBe(5);
    expect(await openReservations()).toBe(0);
    await expect.poll(() => spendOf(key), POLL_OPTIONS).toBe(5);
    expect(await sendConcurrently(1, key, { model: 'paid' }).ended()).toEqual([422]);
  });

  it('five streams are admitted, and cancelled ones release their reservations', async () => {
    const key = await newKey(5);
    const cancellation = new AbortController();
    const send = (signal?: AbortSignal) =>
      fetch(`${app.url}${PATH}`, {
        method: 'POST',
        headers: { authorization: key.authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'paid', messages: MESSAGES, max_tokens: 1, stream: true }),
        ...(signal === undefined ? {} : { signal }),
      });
    const cancelledCalls = [send(cancellation.signal), send(cancellation.signal)];
    await expect.poll(() => pending.length, POLL_OPTIONS).toBe(2);
    const cancelledStreams = startPendingStreams();
    await Promise.all(cancelledCalls);
    const calls = sendConcurrently(CONCURRENT_CALLS, key, { model: 'paid', stream: true });
    await expect.poll(() => calls.statuses.length + pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
    expect([cancelledStreams.length, pending.length]).toEqual([2, 3]);
    expect(await openReservations()).toBe(5);
    cancellation.abort();
    await expect.poll(openReservations, POLL_OPTIONS).toBe(3);
    for (const response of startPendingStreams()) endStream(response);
    await calls.ended();
    await expect.poll(openReservations, POLL_OPTIONS).toBe(0);
    await expect.poll(() => spendOf(key), POLL_OPTIONS).toBe(3);
    // 3 of 5 USD are spent, so two more calls are admitted.
    const later = sendConcurrently(CONCURRENT_CALLS, key, { model: 'paid', stream: true });
    await expect.poll(() => later.statuses.length + pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
    expect(pending.length).toBe(2);
    for (const response of startPendingStreams()) endStream(response);
    await later.ended();
    await expect.poll(openReservations, POLL_OPTIONS).toBe(0);
    await expect.poll(() => spendOf(key), POLL_OPTIONS).toBe(5);
  });

  it('five without an output limit are admitted: the estimated cost is the average of earlier calls', async () => {
    // A budget for the earlier call and five concurrent calls.
    const key = await newKey(6);
    const earlierCall = sendConcurrently(1, key, { model: 'learned', max_tokens: undefined });
    await expect.poll(() => pending.length, POLL_OPTIONS).toBe(1);
    answerPending();
    expect(await earlierCall.ended()).toEqual([200]);
    const calls = sendConcurrently(CONCURRENT_CALLS, key, { model: 'learned', max_tokens: undefined });
    await expect.poll(() => calls.statuses.length + pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
    expect(pending.length).toBe(5);
    answerPending();
    await calls.ended();
    await expect.poll(() => spendOf(key), POLL_OPTIONS).toBe(6);
  });

  it('five are admitted to the priced fallback of a free model', async () => {
    const key = await newKey(5);
    const calls = sendConcurrently(CONCURRENT_CALLS, key, { model: 'free', fallbacks: ['spare'] });
    await expect.poll(() => pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
    failPending('free-up');
    await expect.poll(() => calls.statuses.length + pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
    expect([...new Set(pending.map(({ model }) => model)), pending.length]).toEqual(['spare-up', 5]);
    expect(calls.refusals).toEqual(Array.from({ length: CONCURRENT_CALLS - 5 }, () => budgetError(key, '5.0', '5.0')));
    answerPending();
    await calls.ended();
    expect(await openReservations()).toBe(0);
    await expect.poll(() => spendOf(key), POLL_OPTIONS).toBe(5);
  });

  it('five are admitted to a fallback of the same price: a call has one reservation', async () => {
    const key = await newKey(5);
    const calls = sendConcurrently(CONCURRENT_CALLS, key, { model: 'paid', fallbacks: ['spare'] });
    await expect.poll(() => calls.statuses.length + pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
    failPending('paid-up');
    await expect
      .poll(() => pending.map(({ model }) => model), POLL_OPTIONS)
      .toEqual(Array.from({ length: 5 }, () => 'spare-up'));
    expect(await openReservations()).toBe(5);
    answerPending();
    const statuses = await calls.ended();
    expect(statuses.filter((status) => status === 200).length).toBe(5);
    expect(await openReservations()).toBe(0);
    await expect.poll(() => spendOf(key), POLL_OPTIONS).toBe(5);
  });

  it('five are admitted again after the previous five have failed', async () => {
    const key = await newKey(5);
    for (let round = 0; round < 2; round += 1) {
      const calls = sendConcurrently(CONCURRENT_CALLS, key, { model: 'paid' });
      await expect.poll(() => calls.statuses.length + pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
      expect(pending.length).toBe(5);
      failPending('paid-up');
      const statuses = await calls.ended();
      expect(statuses.filter((status) => status === 500).length).toBe(5);
      expect(await openReservations()).toBe(0);
    }
    expect(await spendOf(key)).toBe(0);
  });
});

describe('a budget under concurrent calls', () => {
  it('admits free models and models without a price when the whole budget is reserved', async () => {
    const key = await newKey(5);
    const paid = sendConcurrently(5, key, { model: 'paid' });
    await expect.poll(() => pending.length, POLL_OPTIONS).toBe(5);
    const others = ['free', 'unpriced'].map((model) => sendConcurrently(1, key, { model }));
    await expect.poll(() => pending.length, POLL_OPTIONS).toBe(7);
    answerPending();
    expect(await Promise.all([paid, ...others].map((calls) => calls.ended()))).toEqual([
      Array.from({ length: 5 }, () => 200),
      [200],
      [200],
    ]);
  });

  it('admits only one of 200 calls if the expected cost of each call exceeds the budget', async () => {
    const key = await newKey(5);
    const calls = sendConcurrently(CONCURRENT_CALLS, key, { model: 'paid', max_tokens: 1_000 });
    await expect.poll(() => calls.statuses.length + pending.length, POLL_OPTIONS).toBe(CONCURRENT_CALLS);
    expect(pending.length).toBe(1);
    answerPending();
    await calls.ended();
    await expect.poll(() => spendOf(key), POLL_OPTIONS).toBe(1);
  });
});
