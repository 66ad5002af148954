import { createOpenAI } from '@ai-sdk/openai';
import { experimental_decide as decide } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'upstream-key' };
  app = await startApp({
    config: { model_list: [{ model_name: 'decider', litellm_params: { model: 'hosted_vllm/up-1', ...params } }] },
  });
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(ANSWER));
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/**
 * Answer of an upstream in the named-map format, a map of answers by question. `noul` is a yes-or-no question and the
 * probability of yes. The probabilities of a question sum to exactly 1.
 */
const ANSWER = {
  model: 'up-1',
  answers: {
    late: { type: 'noul', noul: 0.91 },
    team: { type: 'choice', choice: 'ops', confidence: 0.6, probabilities: { ops: 0.8, sales: 0.2 } },
    anger: {
      type: 'score',
      score: 0.25,
      confidence: 0.5,
      legend: { 0: 'none', 1: 'lots' },
      probabilities: { 0: 0.75, 1: 0.25 },
    },
  },
  usage: { input_tokens: 90, output_tokens: 3 },
};

it('the OpenAI SDK gets a decision', async () => {
  const client = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1` });
  const { answers, usage } = await client.decisions.create({
    model: 'decider',
    input: 'The parcel is a week late.',
    questions: [
      { type: 'predicate', name: 'late', instructions: 'Is it late?' },
      { type: 'choice', name: 'team', instructions: 'Who?', choices: [{ value: 'ops' }, { value: 'sales' }] },
      { type: 'score', name: 'anger', instructions: 'How angry?', levels: [{ label: 'none' }, { label: 'lots' }] },
    ],
  });
  expect(answers).toEqual([
    { type: 'predicate', name: 'late', probability: 0.91 },
    {
      type: 'choice',
      name: 'team',
      choice: 'ops',
      probabilities: [
        { value: 'ops', probability: 0.8 },
        { value: 'sales', probability: 0.2 },
      ],
      confidence: 0.6,
    },
    {
      type: 'score',
      name: 'anger',
      score: 0.25,
      probabilities: [
        { value: 0, label: 'none', probability: 0.75 },
        { value: 1, label: 'lots', probability: 0.25 },
      ],
      confidence: 0.5,
    },
  ]);
  expect([usage.input_tokens, usage.total_tokens]).toEqual([90, 93]);
});

it('the OpenAI SDK gets the error of an invalid request', async () => {
  const client = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
  const refused = client.decisions.create({ model: 'decider', input: 'x', questions: [] });
  await expect(refused).rejects.toMatchObject({
    status: 400,
    code: '400',
    type: 'invalid_request_error',
    param: null,
    message: expect.stringContaining('Invalid Decisions request: questions: it must have at least 1 item'),
  });
});

it('the AI SDK gets a decision about a state that is an object', async () => {
  const openai = createOpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1` });
  const { answers, usage } = await decide({
    model: openai.decisionModel('decider'),
    state: { parcel: 'a week late' },
    questions: {
      late: { type: 'boolean', instructions: 'Is it late?', criteria: { true: 'more than a day' } },
      team: { type: 'choice', instructions: 'Who?', criteria: { ops: 'parcels', sales: null } },
      anger: { type: 'score', instructions: 'How angry?', criteria: ['none', 'lots'] },
    },
  });
  expect(answers).toMatchObject({
    late: { type: 'boolean', probability: 0.91 },
    team: { type: 'choice', choice: 'ops', probabilities: { ops: 0.8, sales: 0.2 } },
    anger: { type: 'score', score: 0.25 },
  });
  expect(usage).toMatchObject({ inputTokens: 90, outputTokens: 3 });
  const upstreamBody = JSON.parse(upstream.received.at(-1)?.body ?? '') as Record<string, unknown>;
  expect([upstreamBody['state'], Object.keys(upstreamBody['questions'] ?? {})]).toEqual([
    '{"parcel":"a week late"}',
    ['late', 'team', 'anger'],
  ]);
});
