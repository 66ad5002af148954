import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { DecideDocument, type DecideInput } from './generated/graphql.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: upstream.url, api_key: 'k', input_cost_per_token: 0.01, output_cost_per_token: 0 };
  const box = { mode: 'evaluation', supports_box_questions: true };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'decider', litellm_params: { model: 'hosted_vllm/up-1', ...params }, model_info: box },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function decide(input: DecideInput): Promise<unknown> {
  const answer = await app.call('POST', '/graphql', { query: String(DecideDocument), variables: { input } });
  return await answer.json();
}

const QUESTIONS: DecideInput['questions'] = [
  { kind: 'PREDICATE', name: 'ok', instructions: 'is it fine?' },
  { kind: 'CHOICE', instructions: 'who?', choices: [{ value: true }, { value: 'ops', description: 'parcels' }] },
  { kind: 'SCORE', instructions: 'how?', levels: [{ label: 'none' }, { label: 'lots', description: 'very' }] },
  { kind: 'BOX', instructions: 'the mug' },
  { kind: 'PREDICATE', instructions: 'refused' },
];

it('a decision has an answer of the type of each question, and a cost', async () => {
  // A question that the upstream does not answer is refused, here the last one.
  // `noul` is the wire name of a predicate in the format of this upstream, and of its probability.
  const answers = {
    0: { type: 'noul', noul: 0.9 },
    1: { type: 'choice', choice: 'ops', confidence: 0.5, probabilities: { ops: 0.75, true: 0.25 } },
    2: { type: 'score', score: 0.25, confidence: 0.5, legend: {}, probabilities: { 0: 0.75, 1: 0.25 } },
    3: { type: 'box', box: { top: 0.1, bottom: 0.9, left: 0.2, right: 0.8 }, confidence: null },
  };
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'up', answers, usage: { input_tokens: 100, output_tokens: 5 } }));
  });
  const weights = (...pairs: readonly (readonly [string, number])[]) =>
    pairs.map(([value, probability]) => ({ value, probability }));
  expect(await decide({ model: 'decider', input: 'a ticket', questions: QUESTIONS, callId: 'mine' })).toEqual({
    data: {
      decide: {
        __typename: 'Decision',
        callId: 'mine',
        model: 'up',
        // 100 input tokens at 0.01 USD.
        costUsd: '1',
        usage: { inputTokens: 100, outputTokens: 5 },
        answers: [
          { __typename: 'PredicateAnswer', name: 'ok', probability: 0.9 },
          {
            __typename: 'ChoiceAnswer',
            name: null,
            choice: 'ops',
            confidence: 0.5,
            distribution: weights(['true', 0.25], ['ops', 0.75]),
          },
          { __typename: 'ScoreAnswer', name: null, score: 0.25, distribution: weights(['0', 0.75], ['1', 0.25]) },
          { __typename: 'BoxAnswer', name: null, top: 0.1, bottom: 0.9, left: 0.2, right: 0.8, boxConfidence: null },
          { __typename: 'RefusedAnswer', name: null },
        ],
      },
    },
  });
  expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({
    model: 'up-1',
    state: 'a ticket',
    questions: {
      0: { type: 'noul', instructions: 'is it fine?' },
      1: { type: 'choice', instructions: 'who?', criteria: { true: null, ops: 'parcels' } },
      2: { type: 'score', instructions: 'how?', criteria: ['none', 'lots: very'] },
      3: { type: 'box', instructions: 'the mug' },
      4: { type: 'noul', instructions: 'refused' },
    },
  });
});

it.each<readonly [string, Partial<DecideInput>, string, string]>([
  ['an unknown model', { model: 'nope' }, 'NotFoundError', 'Invalid model name passed in model=nope'],
  ['no questions', { questions: [] }, 'InvalidInputError', 'questions: it must have at least 1 item'],
  [
    'too many questions',
    { questions: Array.from({ length: 129 }, () => ({ kind: 'PREDICATE' as const, instructions: 'q' })) },
    'InvalidInputError',
    'questions: it must have at most 128 questions, not 129',
  ],
  ['parameters that are not an object', { parameters: ['x'] }, 'InvalidInputError', '`parameters` must be an object'],
])('%s is answered with a member of the union', async (_fault, overrides, type, message) => {
  const input: DecideInput = { model: 'decider', input: 'a ticket', questions: QUESTIONS.slice(0, 1), ...overrides };
  expect(await decide(input)).toMatchObject({
    data: { decide: { __typename: type, message: expect.stringContaining(message) } },
  });
});

it('a failing upstream is answered with a member of the union', async () => {
  upstream.answer((response) => {
    response.writeHead(503, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"later"}}');
  });
  expect(await decide({ model: 'decider', input: 'x', questions: QUESTIONS.slice(0, 1) })).toMatchObject({
    data: { decide: { __typename: 'UpstreamFailedError', code: 'UPSTREAM_FAILED' } },
  });
});
