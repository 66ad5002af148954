import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'named', litellm_params: { model: 'hosted_vllm/d', ...params } },
        { model_name: 'standard', litellm_params: { model: 'openai/d', ...params } },
        { model_name: 'chat', litellm_params: { model: 'openai/c', ...params, use_chat_for_decisions: true } },
      ],
      router_settings: { num_retries: 0, disable_cooldowns: true },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const QUESTIONS = [
  { type: 'predicate', name: 'p', instructions: 'Is it?' },
  { type: 'choice', name: 'c', instructions: 'Which?', choices: [{ value: 'a' }, { value: 'b' }] },
];

async function decide(model: string, answer: string, questions: readonly object[] = QUESTIONS) {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(answer);
  });
  const response = await app.call('POST', '/v1/decisions', { model, input: 'x', questions });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
}

/**
 * Answer in the named-map format: numbers as JSON text, which may be invalid. `noul` is the probability of yes.
 * `share` is the probability and the confidence of the option `a`.
 */
const namedMapAnswer = (noul: string, share: string, tokens = '1'): string =>
  `{"answers":{"p":{"type":"noul","noul":${noul}},"c":{"type":"choice","choice":"a","confidence":${share},` +
  `"probabilities":{"a":${share},"b":0}}},"usage":{"input_tokens":${tokens},"output_tokens":1}}`;
const unexpected = (message: string) => ({
  status: 500,
  body: {
    error: {
      message: expect.stringContaining(message),
      type: 'internal_server_error',
      param: null,
      code: '500',
    },
  },
});

describe('an upstream of the named-map format', () => {
  it.each([
    ['1e999', '0.5', '1', 'answers.p.noul is not a number.'],
    ['0.5', '-1e999', '1', 'answers.c.'],
    ['NaN', '0.5', '1', 'The answer is not JSON.'],
    ['0.5', '0.5', '1e999', 'usage.input_tokens is not a number.'],
    ['0.5', '0.5', '1e300', 'usage.input_tokens is not a count.'],
    ['0.5', '0.5', '0.5', 'usage.input_tokens is not a count.'],
    ['0.5', '0.5', '-1', 'usage.input_tokens is not a count.'],
  ])(
    '500: an answer with the probabilities %s and %s and with %s input tokens',
    async (noul, share, tokens, message) => {
      expect(await decide('named', namedMapAnswer(noul, share, tokens))).toEqual(unexpected(message));
    },
  );

  it('answers or refuses questions named like members of Object.prototype', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const answers = names.map((name) => `${JSON.stringify(name)}:{"type":"noul","noul":0.25}`).slice(0, 2);
    const answer = `{"answers":{${answers.join(',')}},"usage":{"input_tokens":1,"output_tokens":1}}`;
    const predicates = names.map((name) => ({ type: 'predicate', name, instructions: 'Is it?' }));
    expect((await decide('named', answer, predicates)).body['answers']).toEqual([
      { type: 'predicate', name: '__proto__', probability: 0.25 },
      { type: 'predicate', name: 'constructor', probability: 0.25 },
      { type: 'refusal', name: 'toString' },
      { type: 'refusal', name: 'hasOwnProperty' },
    ]);
  });
});

describe('an upstream of the standard format', () => {
  it('500: an answer with an infinite number', async () => {
    const answers = '[{"type":"predicate","name":"p","probability":1e999}]';
    const answer = `{"model":"m","answers":${answers},"usage":{"input_tokens":1,"output_tokens":1}}`;
    expect(await decide('standard', answer)).toEqual(unexpected('answers.0.probability is not a number.'));
  });
});

describe('a chat model', () => {
  /** Answer with a weight for each label (`l0`, `l1`) of each question (`q0`, `q1`), as the prompt demands. */
  const answerWithWeights = (firstWeight: string, secondWeight: string): string => {
    const answersText = `{"l0":${firstWeight},"l1":${secondWeight}}`;
    const message = { role: 'assistant', content: `{"q0":${answersText},"q1":${answersText}}` };
    return JSON.stringify({ id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] });
  };
  const REFUSED = [
    { type: 'refusal', name: 'p' },
    { type: 'refusal', name: 'c' },
  ];

  it.each([
    ['-1', '2'],
    ['1e999', '1'],
    ['null', '1'],
    ['"5"', '1'],
    ['0', '0'],
  ])('with the weights %s and %s refuses the questions', async (firstWeight, secondWeight) => {
    expect((await decide('chat', answerWithWeights(firstWeight, secondWeight))).body['answers']).toEqual(REFUSED);
  });

  it.each([['1e308'], ['5e-324'], ['50']])('with the weight %s for both labels gives 0.5', async (weight) => {
    const evidence = { x_probability_source: 'self_reported' };
    const shares = ['a', 'b'].map((value) => ({ value, probability: 0.5 }));
    expect((await decide('chat', answerWithWeights(weight, weight))).body['answers']).toEqual([
      { type: 'predicate', name: 'p', probability: 0.5, ...evidence },
      { type: 'choice', name: 'c', choice: 'a', probabilities: shares, confidence: 0, ...evidence },
    ]);
  });
});

it('128 questions of 255 options with long texts, which the upstream does not answer, become refusals in order', async () => {
  const questions = Array.from({ length: 128 }, (_unused, index) => ({
    type: 'choice',
    name: `q${index}`,
    instructions: 'x'.repeat(1_000),
    choices: Array.from({ length: 255 }, (_empty, option) => ({
      value: `o${option}-\u{1F600}\u202E`,
      description: 'd'.repeat(50),
    })),
  }));
  const { status, body } = await decide(
    'standard',
    '{"model":"m","answers":[],"usage":{"input_tokens":1,"output_tokens":1}}',
    questions,
  );
  expect(status).toBe(200);
  expect(body['answers']).toEqual(questions.map(({ name }) => ({ type: 'refusal', name })));
});
