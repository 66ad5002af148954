import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { TypedDocumentString } from './generated/graphql.ts';
import { overEventStream } from './subscribers.ts';
import { POLLING } from '../support/polling.ts';

let app: TestApp;
let upstream: FaultServer;
let redactedKey: string;
let fullKey: string;
let plainKey: string;

async function newKey(settings: Record<string, unknown>): Promise<string> {
  const response = await app.call('POST', '/key/generate', settings);
  return ((await response.json()) as { readonly key: string }).key;
}

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: upstream.url, api_key: 'k', input_cost_per_token: 0.01, output_cost_per_token: 0 };
  app = await startApp({
    config: {
      general_settings: { calibrate_decisions: true },
      // A decision with two questions needs two upstream calls, with 10 tokens each.
      model_list: [
        { model_name: 'decider', litellm_params: { model: 'perplexity/up-1', ...params, max_decision_questions: 1 } },
      ],
    },
  });
  redactedKey = await newKey({ metadata: { store_decisions: 'redacted' } });
  fullKey = await newKey({ metadata: { store_decisions: 'full' } });
  plainKey = await newKey({});
});

/** The upstream answers each predicate (on the wire: `noul`) with 0.9, and no other question. */
beforeEach(() => {
  upstream.answer((response, _socket, { body }) => {
    const { questions } = JSON.parse(body) as { questions: Record<string, { type: string }> };
    const answers = Object.entries(questions).flatMap(([name, { type }]) =>
      type === 'noul' ? [[name, { type, noul: 0.9 }]] : [],
    );
    response.writeHead(200, { 'content-type': 'application/json' });
    const usage = { input_tokens: 10, output_tokens: 0 };
    response.end(JSON.stringify({ model: 'up', answers: Object.fromEntries(answers) as object, usage }));
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function graph(key: string, query: string, variables: object = {}): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await app.call('POST', '/graphql', { query, variables }, headers);
  return (await answer.json()) as Record<string, unknown>;
}

async function decide(key: string, callId: string): Promise<unknown> {
  const answer = await app.call(
    'POST',
    '/v1/systemone',
    {
      model: 'decider',
      state: 'a secret ticket',
      questions: {
        late: { type: 'noul', instructions: 'Is it late?' },
        team: { type: 'choice', criteria: { ops: 'parcels', sales: null } },
      },
    },
    { authorization: `Bearer ${key}`, 'x-litellm-call-id': callId },
  );
  expect(answer.status).toBe(200);
  return await answer.json();
}

const LIST = `{ decisions { edges { node {
  id callId modelGroup model input costUsd usage { inputTokens }
  answers { __typename ... on DecisionAnswer { name instructions source calibrated } ... on PredicateAnswer { probability } }
} } } }`;

type Decisions = readonly Record<string, unknown>[];
async function listNow(key: string): Promise<Decisions> {
  const { data } = (await graph(key, LIST)) as { data: { decisions: { edges: { node: Record<string, unknown> }[] } } };
  return data.decisions.edges.map(({ node }) => node);
}

/** The decisions of a key, once the records of their calls are committed. */
const listCommitted = (key: string): Promise<Decisions> =>
  vi.waitFor(async () => {
    const found = await listNow(key);
    expect(found.map(({ costUsd }) => costUsd)).not.toContain(null);
    return found;
  }, POLLING);

describe('decisions', () => {
  it('are listed for the key that stores them and for administrators; redacted decisions have no texts', async () => {
    await decide(redactedKey, 'redacted-1');
    await decide(fullKey, 'full-1');
    await decide(plainKey, 'plain-1');
    const answersWith = (instructions: string | null) => [
      {
        __typename: 'PredicateAnswer',
        name: 'late',
        instructions,
        source: 'NATIVE',
        calibrated: false,
        probability: 0.9,
      },
      { __typename: 'RefusedAnswer', name: 'team', instructions: null, source: null, calibrated: false },
    ];
    const commonFields = { id: expect.any(String), modelGroup: 'decider', model: 'up', usage: { inputTokens: 20 } };
    expect(await listCommitted(redactedKey)).toEqual([
      { ...commonFields, callId: 'redacted-1', input: null, costUsd: '0.2', answers: answersWith(null) },
    ]);
    expect(await listCommitted(fullKey)).toEqual([
      {
        ...commonFields,
        callId: 'full-1',
        input: 'a secret ticket',
        costUsd: '0.2',
        answers: answersWith('Is it late?'),
      },
    ]);
    expect(await listCommitted(plainKey)).toEqual([]);
    expect((await listCommitted(app.adminKey)).map(({ callId }) => callId)).toEqual(['full-1', 'redacted-1']);
  });

  it('are returned by `node` to callers that may read them, and null to others', async () => {
    const [stored] = await listCommitted(fullKey);
    const node = async (key: string) =>
      await graph(key, 'query($id: ID!) { node(id: $id) { id ... on Decision { callId } } }', { id: stored?.['id'] });
    expect(await node(fullKey)).toEqual({ data: { node: { id: stored?.['id'], callId: 'full-1' } } });
    expect(await node(plainKey)).toEqual({ data: { node: null } });
  });
});

const RECORD = `mutation($input: RecordDecisionOutcomeInput!) { recordDecisionOutcome(input: $input) {
  __typename
  ... on DecisionOutcome { index probability decision { callId } answer { __typename ... on DecisionAnswer { name } } }
  ... on UserError { code message }
} }`;

const recordOutcome = async (key: string, input: object): Promise<unknown> => {
  const { data, errors } = await graph(key, RECORD, { input });
  expect(errors).toBeUndefined();
  return (data as Record<string, unknown>)['recordDecisionOutcome'];
};

describe('recordDecisionOutcome', () => {
  it('returns the index and the probability of the reported outcome', async () => {
    expect(await recordOutcome(fullKey, { callId: 'full-1', question: 'late', outcome: false })).toEqual({
      __typename: 'DecisionOutcome',
      index: 0,
      probability: expect.closeTo(0.1, 12),
      decision: { callId: 'full-1' },
      answer: { __typename: 'PredicateAnswer', name: 'late' },
    });
  });

  it.each<readonly [string, object, string, string]>([
    [
      'an outcome that the question does not have',
      { question: 'late', outcome: 'maybe' },
      'INVALID_INPUT',
      '`outcome` must be one of true, false.',
    ],
    [
      'an unknown question',
      { question: 'x', outcome: true },
      'INVALID_INPUT',
      '`question` names no question of the decision.',
    ],
    [
      'a question that the upstream did not answer',
      { index: 1, outcome: 'ops' },
      'INVALID_INPUT',
      '`question` names a question without probabilities.',
    ],
  ])('refuses %s', async (_case, input, code, message) => {
    const refused = (await recordOutcome(fullKey, { callId: 'full-1', ...input })) as Record<string, unknown>;
    expect([refused['code'], refused['message']]).toEqual([code, message]);
  });

  it('refuses an outcome without `question` and `index`, even for a question without a name', async () => {
    const key = await newKey({ metadata: { store_decisions: 'redacted' } });
    const questions = [{ kind: 'PREDICATE', instructions: 'Is it late?' }];
    const input = { model: 'decider', input: 'a ticket', questions, callId: 'unnamed-1' };
    const decideQuery = 'mutation($input: DecideInput!) { decide(input: $input) { __typename } }';
    expect(await graph(key, decideQuery, { input })).toEqual({ data: { decide: { __typename: 'Decision' } } });
    expect(await recordOutcome(key, { callId: 'unnamed-1', outcome: true })).toEqual({
      __typename: 'InvalidInputError',
      code: 'INVALID_INPUT',
      message: '`question` names no question of the decision.',
    });
  });

  it('returns NOT_FOUND for a decision of another key', async () => {
    expect(await recordOutcome(plainKey, { callId: 'full-1', question: 'late', outcome: true })).toMatchObject({
      __typename: 'NotFoundError',
      code: 'NOT_FOUND',
      message:
        'No stored decision has the call id full-1. Decisions are stored where `store_decisions` of the settings or of the key is `redacted` or `full`.',
    });
  });
});

const CALIBRATIONS = `{ decisionCalibrations {
  scope model kind source outcomes temperature
  raw { brier expectedCalibrationError reliability { count } } fitted { expectedCalibrationError }
} }`;

const CALIBRATED = {
  model: 'up',
  answers: {
    late: { type: 'noul', noul: expect.closeTo(0.75, 6), x_calibrated: true, x_temperature: expect.closeTo(2, 6) },
  },
  usage: { input_tokens: 20, output_tokens: 0 },
};

it('outcomes of a key fit a temperature for later answers to this key, not for other keys', async () => {
  // 0.9 is right in 24 of 32 cases: the temperature is 2, and the probability 0.75. Of the eight wrong cases, the test
  // of `recordDecisionOutcome` has reported one.
  async function decideAndReport(index: number): Promise<void> {
    await decide(fullKey, `fit-${index}`);
    await recordOutcome(fullKey, { callId: `fit-${index}`, index: 0, outcome: index < 25 });
  }
  // A temperature needs 30 outcomes.
  for (let index = 1; index < 29; index += 1) await decideAndReport(index);
  const { data } = await graph(app.adminKey, CALIBRATIONS);
  expect(data).toMatchObject({ decisionCalibrations: [{ outcomes: 29, temperature: null, fitted: null }] });
  for (let index = 29; index < 32; index += 1) await decideAndReport(index);
  expect(await graph(app.adminKey, CALIBRATIONS)).toEqual({
    data: {
      decisionCalibrations: [
        {
          scope: `key:${createHash('sha256').update(fullKey).digest('hex')}`,
          model: 'perplexity/up-1',
          kind: 'PREDICATE',
          source: 'NATIVE',
          outcomes: 32,
          temperature: expect.closeTo(2, 6),
          raw: {
            brier: expect.closeTo((24 * 0.01 + 8 * 0.81) / 32, 9),
            expectedCalibrationError: expect.closeTo(0.15, 9),
            reliability: [0, 0, 0, 0, 0, 0, 0, 0, 0, 32].map((count) => ({ count })),
          },
          fitted: { expectedCalibrationError: expect.closeTo(0, 6) },
        },
      ],
    },
  });
  expect(await decide(fullKey, 'calibrated')).toEqual(CALIBRATED);
  expect(await decide(plainKey, 'not-calibrated')).toEqual({
    model: 'up',
    answers: { late: { type: 'noul', noul: 0.9 } },
    usage: { input_tokens: 20, output_tokens: 0 },
  });
  const { errors } = await graph(plainKey, CALIBRATIONS);
  expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
});

it('outcomes of administrators calibrate the answers to keys without their own fitted temperature', async () => {
  // The 32 decisions of `fullKey`, with the same outcomes.
  await recordOutcome(app.adminKey, { callId: 'full-1', index: 0, outcome: false });
  for (let index = 1; index < 32; index += 1)
    await recordOutcome(app.adminKey, { callId: `fit-${index}`, index: 0, outcome: index < 25 });
  const { data } = await graph(app.adminKey, CALIBRATIONS);
  expect(data).toMatchObject({
    decisionCalibrations: [{ scope: expect.stringMatching('^key:') }, { scope: 'platform' }].map((scope) => ({
      ...scope,
      outcomes: 32,
      temperature: expect.closeTo(2, 6),
    })),
  });
  expect(await decide(plainKey, 'by-platform')).toEqual(CALIBRATED);
});

const STREAM = new TypedDocumentString<unknown, { input: object }>(`subscription($input: DecideInput!) {
  decisionStream(input: $input) {
    __typename
    ... on DecisionAnswered { index answer { __typename ... on DecisionAnswer { name } } }
    ... on DecisionMade { decision { callId answers { __typename } costUsd } }
  }
}`);

it('a streamed decision sends each answer, then the decision', async () => {
  const input = {
    model: 'decider',
    input: 'x',
    callId: 'streamed',
    questions: [
      { kind: 'PREDICATE', name: 'one', instructions: '?' },
      { kind: 'PREDICATE', name: 'two', instructions: '?' },
    ],
  };
  const subscriber = overEventStream(`${app.url}/graphql`, STREAM, { input }, plainKey);
  await subscriber.ended;
  const answer = (index: number, name: string) => ({
    data: {
      decisionStream: { __typename: 'DecisionAnswered', index, answer: { __typename: 'PredicateAnswer', name } },
    },
  });
  expect(new Set(subscriber.received.slice(0, 2))).toEqual(new Set([answer(0, 'one'), answer(1, 'two')]));
  expect(subscriber.received.slice(2)).toEqual([
    {
      data: {
        decisionStream: {
          __typename: 'DecisionMade',
          decision: {
            callId: 'streamed',
            answers: [{ __typename: 'PredicateAnswer' }, { __typename: 'PredicateAnswer' }],
            costUsd: '0.2',
          },
        },
      },
    },
  ]);
});
