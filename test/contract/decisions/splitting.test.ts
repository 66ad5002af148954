import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

interface UpstreamRequest {
  readonly model: string;
  readonly state: string;
  readonly questions: Readonly<Record<string, unknown>>;
}

let app: TestApp;
let upstream: FaultServer;
let upstreamRequests: UpstreamRequest[] = [];
let open = 0;
let mostOpen = 0;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: upstream.url, api_key: 'upstream-key' };
  const model = (name: string, settings: object) => ({
    model_name: name,
    litellm_params: { ...params, ...settings },
  });
  app = await startApp({
    config: {
      model_list: [
        model('pairs', {
          model: 'perplexity/decider',
          max_decision_questions: 2,
          input_cost_per_token: 0.001,
          output_cost_per_token: 0,
        }),
        model('server', { model: 'hosted_vllm/decider' }),
        model('charging', { model: 'openrouter/a/decider', max_decision_questions: 2 }),
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Answers each question with a thousandth of the number in its name as the probability of yes (`noul`). */
function sendAnswers(response: ServerResponse, { questions }: UpstreamRequest): void {
  open -= 1;
  response.writeHead(200, { 'content-type': 'application/json' });
  const answers = Object.keys(questions).map((name) => [name, { type: 'noul', noul: numberIn(name) / 1000 }]);
  response.end(
    JSON.stringify({
      id: `call-${upstreamRequests.length}`,
      model: 'decider-1',
      answers: Object.fromEntries(answers) as object,
      usage: { input_tokens: 10, output_tokens: answers.length, cost: 0.25 },
    }),
  );
}

/** Makes the upstream collect its calls. On each call, `arrived` gets a function that answers all open calls. */
function collectCalls(arrived: (answerAll: () => void) => void): void {
  const waiting: (() => void)[] = [];
  upstream.answer((response, _socket, { body }) => {
    const call = JSON.parse(body) as UpstreamRequest;
    upstreamRequests.push(call);
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    waiting.push(() => sendAnswers(response, call));
    arrived(() => {
      for (const answer of waiting.splice(0).toReversed()) answer();
    });
  });
}

/** The upstream waits for a second call. It answers the second call before the first, and all others immediately. */
beforeEach(() => {
  upstreamRequests = [];
  open = 0;
  mostOpen = 0;
  collectCalls((answerAll) => {
    if (upstreamRequests.length > 1) answerAll();
  });
});

const numberIn = (name: string): number => Number(name.slice(1));
const namesOf = (count: number): readonly string[] => Array.from({ length: count }, (_unused, index) => `q${index}`);
const questionsOf = (count: number): object =>
  Object.fromEntries(namesOf(count).map((name) => [name, { type: 'noul', instructions: 'is it?' }]));

async function decide(model: string, count: number) {
  const response = await app.call('POST', '/v1/systemone', { model, state: 'a ticket', questions: questionsOf(count) });
  return {
    status: response.status,
    cost: response.headers.get('x-litellm-response-cost'),
    body: (await response.json()) as { answers: Record<string, { noul: number }>; usage: unknown },
  };
}

it('more questions than the upstream accepts are sent in several calls and answered in order', async () => {
  const { status, body, cost } = await decide('pairs', 5);
  expect(status).toBe(200);
  expect(new Set(upstreamRequests.map(({ questions }) => Object.keys(questions).join(' ')))).toEqual(
    new Set(['q0 q1', 'q2 q3', 'q4']),
  );
  expect(new Set(upstreamRequests.map(({ model, state }) => JSON.stringify({ model, state })))).toEqual(
    new Set(['{"model":"decider","state":"a ticket"}']),
  );
  expect(Object.entries(body.answers)).toEqual(
    namesOf(5).map((name) => [name, { type: 'noul', noul: numberIn(name) / 1000 }]),
  );
  expect(body.usage).toEqual({ input_tokens: 30, output_tokens: 5, cost: 0.75 });
  expect(Number(cost)).toBe(0.03);
});

it('128 questions to a vLLM server are sent in two concurrent calls', async () => {
  const { status, body } = await decide('server', 128);
  expect(status).toBe(200);
  expect(upstreamRequests.map(({ questions }) => Object.keys(questions).length)).toEqual([64, 64]);
  expect(Object.keys(body.answers)).toEqual(namesOf(128));
  expect(mostOpen).toBe(2);
});

it('at most eight calls of one decision are open at the same time', async () => {
  collectCalls((answerAll) => {
    // The answers are 20 ms late, so that a ninth call would arrive while eight are open.
    if (open === 8) setTimeout(answerAll, 20);
  });
  const { status } = await decide('pairs', 128);
  expect([status, upstreamRequests.length, mostOpen]).toEqual([200, 64, 8]);
});

it('the cost of a decision is the sum of the costs that the upstream reports', async () => {
  const { cost } = await decide('charging', 3);
  expect([upstreamRequests.length, Number(cost)]).toEqual([2, 0.5]);
});

it('400: a decision fails if one of its calls fails', async () => {
  let calls = 0;
  upstream.answer((response) => {
    calls += 1;
    response.writeHead(calls === 1 ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(calls === 1 ? { error: { message: 'too long' } } : { answers: {}, usage: null }));
  });
  const { status } = await decide('pairs', 3);
  expect(status).toBe(400);
});
