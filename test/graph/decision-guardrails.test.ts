import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from '../contract/guardrails/guarded-app.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { POLLING } from '../support/polling.ts';
import { TypedDocumentString } from './generated/graphql.ts';
import { overEventStream, type Subscriber } from './subscribers.ts';

const SECRET = 'john.doe@example.com';
const MASKED = '[EMAIL_REDACTED]';
const BLOCKED = 'classified';

let guarded: GuardedApp;
let service: FaultServer;
beforeAll(async () => {
  service = await startFaultServer();
  const patterns = [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }];
  const words = { blocked_words: [{ keyword: BLOCKED, action: 'BLOCK' }] };
  guarded = await startGuarded(
    [
      contentFilter('mask', { mode: 'post_call', patterns }),
      contentFilter('block', { mode: 'post_call', ...words }),
      {
        guardrail_name: 'beside',
        litellm_params: { guardrail: 'generic_guardrail_api', mode: 'during_call', api_base: service.url, timeout: 60 },
      },
    ],
    { general: { store_decisions: 'full' }, models: { 'masked-decider': ['mask'] } },
  );
});
afterAll(async () => {
  await guarded.stop();
  await service.stop();
});

/** The upstream chooses the first option of each question. */
beforeEach(() => {
  guarded.upstream.answer((response, _socket, { body }) => {
    const { questions } = JSON.parse(body) as { questions: { name: string; choices: { value: string }[] }[] };
    const answers = questions.map(({ name, choices }) => ({
      type: 'choice',
      name,
      choice: choices[0]?.value,
      confidence: 0.5,
      probabilities: choices.map(({ value }, index) => ({ value, probability: index === 0 ? 0.75 : 0.25 })),
    }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'up', answers, usage: { input_tokens: 9, output_tokens: 3 } }));
  });
});

const choiceOf = (name: string, ...values: readonly string[]) => ({
  kind: 'CHOICE',
  name,
  instructions: name,
  choices: values.map((value) => ({ value })),
});
const inputOf = (guardrails: readonly string[], options: readonly string[], model = 'decider') => ({
  model,
  input: 'x',
  questions: [choiceOf('one', 'a', 'b'), choiceOf('two', ...options)],
  parameters: { guardrails },
});

const ANSWER = `__typename ... on ChoiceAnswer { name choice distribution { value probability } }`;
const answer = (name: string, first: string, second: string) => ({
  __typename: 'ChoiceAnswer',
  name,
  choice: first,
  distribution: [
    { value: first, probability: 0.75 },
    { value: second, probability: 0.25 },
  ],
});
const ANSWERS = [answer('one', 'a', 'b'), answer('two', MASKED, 'nobody')];

async function graph(query: string, variables: object = {}): Promise<unknown> {
  const { body } = await guarded.ask('/graphql', { query, variables });
  return body;
}

const DECIDE = `mutation ($input: DecideInput!) { decide(input: $input) {
  __typename ... on Decision { id answers { ${ANSWER} } } ... on UserError { code message } } }`;
const STREAM = new TypedDocumentString<unknown, { input: object }>(`subscription ($input: DecideInput!) {
  decisionStream(input: $input) { __typename
    ... on DecisionAnswered { index answer { ${ANSWER} } }
    ... on DecisionMade { decision { answers { ${ANSWER} } } } } }`);
const subscribe = (input: object): Subscriber =>
  overEventStream(`${guarded.app.url}/graphql`, STREAM, { input }, guarded.app.adminKey);

const message = `Content blocked: keyword '${BLOCKED}' detected`;
const EVENTS = [
  ...ANSWERS.map((one, index) => ({
    data: { decisionStream: { __typename: 'DecisionAnswered', index, answer: one } },
  })),
  { data: { decisionStream: { __typename: 'DecisionMade', decision: { answers: ANSWERS } } } },
];

describe('guardrails after a decision in the graph', () => {
  it('mask the result of `decide` and the stored decision', async () => {
    const made = (await graph(DECIDE, { input: inputOf(['mask'], [SECRET, 'nobody']) })) as {
      data: { decide: { id: string } };
    };
    const { id } = made.data.decide;
    expect(made).toEqual({ data: { decide: { __typename: 'Decision', id, answers: ANSWERS } } });
    const stored = `query ($id: ID!) { node(id: $id) { ... on Decision { answers { ${ANSWER} } } } }`;
    expect(await graph(stored, { id })).toEqual({ data: { node: { answers: ANSWERS } } });
  });

  it('mask the events of `decisionStream`', async () => {
    const subscriber = subscribe(inputOf(['mask'], [SECRET, 'nobody']));
    await subscriber.ended;
    expect(subscriber.received).toEqual(EVENTS);
  });

  it('that the model names mask the events, too', async () => {
    const subscriber = subscribe(inputOf([], [SECRET, 'nobody'], 'masked-decider'));
    await subscriber.ended;
    expect(subscriber.received).toEqual(EVENTS);
  });

  it('block every event of `decisionStream`, and nothing is stored', async () => {
    const count = '{ decisions { totalCount } }';
    const before = await graph(count);
    expect(await graph(DECIDE, { input: inputOf(['block'], [BLOCKED, 'b']) })).toEqual({
      data: { decide: { __typename: 'RejectedError', code: 'REJECTED', message } },
    });
    const subscriber = subscribe(inputOf(['block'], [BLOCKED, 'b']));
    await subscriber.ended;
    expect(subscriber.received).toMatchObject([{ errors: [{ message, extensions: { code: 'REJECTED' } }] }]);
    expect(await graph(count)).toEqual(before);
  });
});

it('no answer of a decision is published before a guardrail beside the call has ended', async () => {
  let reply = (_action: object): void => undefined;
  const checked = new Promise<void>((resolve) => {
    service.answer((response) => {
      reply = (action) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(action));
      };
      resolve();
    });
  });
  const answeredBefore = guarded.upstream.received.length;
  const subscriber = subscribe(inputOf(['beside'], ['a', 'b']));
  await checked;
  await vi.waitFor(() => expect(guarded.upstream.received.length).toBe(answeredBefore + 1), POLLING);
  // The answer of the upstream has been read when two more calls have been answered.
  await graph(DECIDE, { input: inputOf([], ['a', 'b']) });
  await graph(DECIDE, { input: inputOf([], ['a', 'b']) });
  expect(subscriber.received).toEqual([]);
  reply({ action: 'BLOCKED', blocked_reason: 'no' });
  await subscriber.ended;
  expect(subscriber.received).toMatchObject([{ errors: [{ message: 'no' }] }]);
});
