import { APITimeoutError, BadRequestError, choice, noul, score, TypeSafeClient } from '@typesafe-ai/sdk';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;
let client: TypeSafeClient;

const LEVELS = ['calm', 'angry'] as const;
const QUESTIONS = {
  late: noul('Is it late?'),
  team: choice('Who answers?', { ops: 'parcels', sales: null }),
  anger: score('How angry?', LEVELS),
};

const ANSWERS = {
  late: { type: 'noul', noul: 0.91 },
  team: { type: 'choice', choice: 'ops', confidence: 0.6, probabilities: { ops: 0.8, sales: 0.2 } },
  anger: {
    type: 'score',
    score: 0.25,
    confidence: 0.5,
    legend: { 0: 'calm', 1: 'angry' },
    probabilities: { 0: 0.75, 1: 0.25 },
  },
};

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: upstream.url, api_key: 'upstream-key' };
  app = await startApp({
    config: {
      model_list: [{ model_name: 'jev-latest', litellm_params: { model: 'typesafe/jev-1.14.0', ...params } }],
    },
  });
  client = new TypeSafeClient({ apiKey: app.adminKey, baseURL: app.url, logLevel: 'off' });
});

beforeEach(() => {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ model: 'jev-1.14.0', answers: ANSWERS, usage: { input_tokens: 90, output_tokens: 3 } }),
    );
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

it('the TypeSafe SDK gets a decision of its default model, with a request id', async () => {
  expect(client.timeout).toBe(10_000);
  const state = { parcel: 'a week late' };
  const { data, requestId, response } = await client.systemOne({ state, questions: QUESTIONS }).withResponse();
  expect(data).toEqual({ model: 'jev-1.14.0', answers: ANSWERS, usage: { input_tokens: 90, output_tokens: 3 } });
  expect(requestId).toBe(response.headers.get('x-litellm-call-id'));
  const { path, headers, body } = upstream.received.at(-1) ?? {};
  expect([path, headers?.authorization]).toEqual(['/v1/systemone', 'Bearer upstream-key']);
  expect(JSON.parse(body ?? '')).toEqual({
    model: 'jev-1.14.0',
    state,
    questions: {
      late: { type: 'noul', instructions: 'Is it late?' },
      team: { type: 'choice', instructions: 'Who answers?', criteria: { ops: 'parcels', sales: null } },
      anger: { type: 'score', instructions: 'How angry?', criteria: ['calm', 'angry'] },
    },
  });
});

it('the TypeSafe SDK gets the error of an invalid request', async () => {
  const refused = client.systemOne({ state: null, questions: QUESTIONS });
  await expect(refused).rejects.toSatisfy(
    (error) => error instanceof BadRequestError && error.message.includes('Invalid Decisions request: state'),
  );
});

// The gateway retries the call, so the SDK gets no error and does not retry.
it('the TypeSafe SDK gets a decision, although the first call to the upstream fails', async () => {
  const before = upstream.received.length;
  upstream.answer((response) => {
    const isFirst = upstream.received.length === before + 1;
    response.writeHead(isFirst ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'jev-1.14.0', answers: ANSWERS, usage: null }));
  });
  const retry = { backoffInitialMs: 1, backoffMaxMs: 1 };
  const { data, response } = await client.systemOne({ state: 'late', questions: QUESTIONS }, { retry }).withResponse();
  expect(data.answers).toEqual(ANSWERS);
  // The gateway has not retried: the second request to the upstream is of the second request of the SDK.
  expect(response.headers.get('x-litellm-attempted-retries')).toBe('0');
  expect(upstream.received.length).toBe(before + 2);
});

it('a deadline of the TypeSafe SDK ends the call to the upstream', async () => {
  upstream.answer(() => undefined);
  const options = { timeout: 200, retry: { maxRetries: 0 } };
  const late = client.systemOne({ state: 'late', questions: QUESTIONS }, options);
  await expect(late).rejects.toBeInstanceOf(APITimeoutError);
  await upstream.nextDisconnect();
});

it('the TypeSafe SDK lists models', async () => {
  // The description is the mode of the model. The release date is a constant.
  expect(await client.models.list()).toEqual([
    { name: 'jev-latest', description: 'evaluation', release_date: '2023-02-28' },
    { name: 'demo', description: '', release_date: '2023-02-28' },
  ]);
});
