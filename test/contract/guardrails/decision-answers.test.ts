import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newTrace } from '../inference/trace-spans.ts';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';
const OTHER_SECRET = 'jane.doe@example.com';
const MASKED = '[EMAIL_REDACTED]';

let guarded: GuardedApp;
beforeAll(async () => {
  const patterns = [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }];
  guarded = await startGuarded(
    [
      contentFilter('mask', { mode: 'post_call', patterns }),
      contentFilter('words', { mode: 'post_call', blocked_words: [{ keyword: 'classified', action: 'BLOCK' }] }),
    ],
    { general: { store_decisions: 'full', store_prompts_in_spend_logs: true } },
  );
});
afterAll(() => guarded.stop());

/** The upstream answers each choice with the option that contains `chosen`, else with the first option. */
let chosen = SECRET;
beforeEach(() => {
  chosen = SECRET;
  guarded.upstream.answer((response, _socket, { body }) => {
    const { questions } = JSON.parse(body) as {
      questions: { type: string; name: string; choices?: { value: string }[]; levels?: object[] }[];
    };
    const answers = questions.map(({ type, name, choices = [], levels = [] }) => {
      const values = type === 'score' ? levels.map((_level, index) => index) : choices.map(({ value }) => value);
      const choice = values.find((value) => String(value).includes(chosen)) ?? values[0];
      const probabilities = values.map((value) => ({ value, probability: value === choice ? 0.75 : 0.125 }));
      return type === 'score'
        ? { type, name, score: 1, confidence: 1, probabilities }
        : { type, name, choice, confidence: 1, probabilities };
    });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'up', answers, usage: { input_tokens: 9, output_tokens: 3 } }));
  });
});

const OPTIONS = [SECRET, OTHER_SECRET, 'nobody'];
const LEVELS = ['low', `as ${SECRET}`];
const standard = (options: readonly string[], guardrails: readonly string[]): object => ({
  model: 'decider',
  input: 'x',
  guardrails,
  questions: [
    { type: 'choice', name: 'who', instructions: 'who?', choices: options.map((value) => ({ value })) },
    { type: 'score', name: 'how', instructions: 'how?', levels: LEVELS.map((label) => ({ label })) },
  ],
});
const namedMap = (options: readonly string[], guardrails: readonly string[]): object => ({
  model: 'decider',
  state: 'x',
  guardrails,
  questions: {
    who: { type: 'choice', instructions: 'who?', criteria: Object.fromEntries(options.map((one) => [one, null])) },
    how: { type: 'score', instructions: 'how?', criteria: LEVELS },
  },
});

interface StoredNode {
  readonly callId: string;
  readonly answers: readonly unknown[];
}

/** Makes a decision. Returns its answer, its stored decision and its trace. */
async function decided(path: string, body: object) {
  const { traceId, headers } = newTrace();
  const callId = `call-${traceId}`;
  const { status, body: answer } = await guarded.ask(path, body, { ...headers, 'x-litellm-call-id': callId });
  const query = `query ($t: ID!, $c: ID!) {
    decisions(filter: { callId: $c }) { edges { node { callId answers { __typename
      ... on ChoiceAnswer { choice distribution { value probability } } } } } }
    trace(id: $t) { spans { edges { node { type input output error } } } } }`;
  const read = await guarded.app.call('POST', '/graphql', { query, variables: { t: traceId, c: callId } });
  const { data, errors } = (await read.json()) as {
    errors?: unknown;
    data: {
      decisions: { edges: readonly { node: StoredNode }[] };
      trace: { spans: { edges: readonly { node: { type: string; output: string } }[] } };
    };
  };
  expect(errors).toBeUndefined();
  const stored = data.decisions.edges.map(({ node }) => node);
  const spans = data.trace.spans.edges.map(({ node }) => node);
  const call = spans.find(({ type }) => type !== 'GUARDRAIL');
  return { status, answer, stored, output: call?.output, records: JSON.stringify([stored, spans]) };
}

const FORMATS = [
  ['/v1/decisions', standard],
  ['/v1/systemone', namedMap],
] as const;

const MASKED_CHOICE = {
  __typename: 'ChoiceAnswer',
  choice: MASKED,
  distribution: [
    { value: MASKED, probability: 0.75 },
    { value: `${MASKED} (2)`, probability: 0.125 },
    { value: 'nobody', probability: 0.125 },
  ],
};

describe.each(FORMATS)('the answer of a decision at %s', (path, body) => {
  it('200: is masked for the caller, in the stored decision and in the span', async () => {
    const { status, answer, stored, output, records } = await decided(path, body(OPTIONS, ['mask']));
    expect(status).toBe(200);
    expect(JSON.stringify(answer)).not.toContain('example.com');
    expect(stored).toEqual([{ callId: expect.any(String), answers: [MASKED_CHOICE, { __typename: 'ScoreAnswer' }] }]);
    expect(records).not.toContain('example.com');
    expect(JSON.parse(output ?? '')).toEqual(answer);
  });

  it('400: is neither stored nor in the span when a guardrail blocks it', async () => {
    const { status, answer, stored, output, records } = await decided(path, body(['classified', 'b'], ['words']));
    const message = "Content blocked: keyword 'classified' detected";
    expect([status, answer, stored, output]).toEqual([
      400,
      {
        error: expect.objectContaining({
          message,
          provider_specific_fields: expect.objectContaining({ guardrail_name: 'words', guardrail_mode: 'post_call' }),
        }),
      },
      [],
      null,
    ]);
    expect(records.replaceAll(message, '')).not.toContain('classified');
  });
});

describe('the masked answer of a decision', () => {
  it('200: has distinct options in the standard format', async () => {
    const { answer } = await decided('/v1/decisions', standard(OPTIONS, ['mask']));
    expect(answer).toEqual({
      model: 'up',
      answers: [
        {
          type: 'choice',
          name: 'who',
          choice: MASKED,
          probabilities: MASKED_CHOICE.distribution,
          confidence: 1,
        },
        {
          type: 'score',
          name: 'how',
          score: 1,
          probabilities: [
            { value: 0, label: 'low', probability: 0.75 },
            { value: 1, label: `as ${MASKED}`, probability: 0.125 },
          ],
          confidence: 1,
        },
      ],
      usage: {
        input_tokens: 9,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 12,
      },
    });
  });

  it('200: has masked names of options in the named-map format', async () => {
    chosen = 'nobody';
    const { answer } = await decided('/v1/systemone', namedMap(OPTIONS, ['mask']));
    expect(answer).toEqual({
      model: 'up',
      answers: {
        who: {
          type: 'choice',
          choice: 'nobody',
          confidence: 1,
          probabilities: { [MASKED]: 0.125, [`${MASKED} (2)`]: 0.125, nobody: 0.75 },
        },
        how: {
          type: 'score',
          score: 1,
          confidence: 1,
          legend: { 0: 'low', 1: `as ${MASKED}` },
          probabilities: { 0: 0.75, 1: 0.125 },
        },
      },
      usage: { input_tokens: 9, output_tokens: 3 },
    });
  });
});
