import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTrace } from '../inference/trace-spans.ts';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const CHAT = '/v1/chat/completions';
const SECRET = 'john.doe@example.com';

let guarded: GuardedApp;
beforeAll(async () => {
  const email = (action: string) => [{ pattern_type: 'prebuilt', pattern_name: 'email', action }];
  guarded = await startGuarded(
    [
      contentFilter('words', { blocked_words: [{ keyword: 'forbiddenword' }] }),
      contentFilter('mask', { patterns: email('MASK') }),
      contentFilter('after', { mode: 'post_call', patterns: email('MASK') }),
      contentFilter('recorded', { mode: 'logging_only', patterns: email('MASK') }),
      contentFilter('unrecorded', { mode: 'logging_only', blocked_words: [{ keyword: 'unwritten' }] }),
    ],
    {
      general: { store_prompts_in_spend_logs: true, store_decisions: 'full' },
      models: { 'recorded-model': ['recorded', 'words'] },
    },
  );
});
afterAll(() => guarded.stop());

const chat = (text: string, members: object = {}) => ({
  model: 'chat',
  messages: [{ role: 'user', content: text }],
  ...members,
});

interface ReadSpan {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly name: string;
  readonly type: string;
  readonly status: string;
}

/**
 * Makes a call. Returns its status, its spans, the metadata of its spend row, and its trace, input and output as one
 * text.
 */
async function recordsOf(text: string, guardrails: readonly string[]) {
  const { traceId, headers } = newTrace();
  const { status } = await guarded.ask(CHAT, chat(text, { guardrails }), headers);
  const read = await guarded.app.call('GET', `/v1/traces/${traceId}`);
  const trace = (await read.json()) as { spans: readonly ReadSpan[] };
  const logs = await guarded.app.call('GET', '/spend/logs');
  const rows = (await logs.json()) as readonly { metadata: Record<string, unknown> }[];
  const row = rows.find(({ metadata }) => metadata['trace_id'] === traceId);
  const query = 'query ($t: ID!, $s: ID!) { span(traceId: $t, spanId: $s) { input output } }';
  const variables = { t: traceId, s: trace.spans.find(({ type }) => type === 'llm')?.span_id };
  const payload = await guarded.app.call('POST', '/graphql', { query, variables });
  const recordedText = JSON.stringify([trace, await payload.json()]);
  return { status, text: recordedText, spans: trace.spans, metadata: row?.metadata ?? {} };
}

const guardrailRun = (name: string, mode: string, status: string) => ({
  guardrail_name: name,
  guardrail_mode: mode,
  guardrail_status: status,
  guardrail_provider: 'litellm_content_filter',
  duration: expect.any(Number),
});

describe('records of a call with guardrails', () => {
  it('200: one span for each guardrail below the span of the call, and the runs in the spend row', async () => {
    guarded.setAnswer(`ask ${SECRET}`);
    const { status, spans, metadata, text } = await recordsOf(`I am ${SECRET}`, ['words', 'mask', 'after']);
    expect(status).toBe(200);
    const call = spans.find(({ type }) => type === 'llm');
    expect(
      new Set(
        spans
          .filter(({ type }) => type === 'guardrail')
          .map(
            ({ name, parent_span_id: parent, status: spanStatus }) =>
              `${name} ${parent === call?.span_id} ${spanStatus}`,
          ),
      ),
    ).toEqual(new Set(['guardrail after true ok', 'guardrail mask true ok', 'guardrail words true ok']));
    expect(metadata).toMatchObject({
      applied_guardrails: ['words', 'mask', 'after'],
      guardrail_information: [
        guardrailRun('words', 'pre_call', 'success'),
        guardrailRun('mask', 'pre_call', 'guardrail_intervened'),
        guardrailRun('after', 'post_call', 'guardrail_intervened'),
      ],
    });
    expect([
      text.includes(SECRET),
      text.includes('I am [EMAIL_REDACTED]'),
      text.includes('ask [EMAIL_REDACTED]'),
    ]).toEqual([false, true, true]);
  });

  it('400: the failed spend row of a blocked call has the runs', async () => {
    const { status, metadata } = await recordsOf('a forbiddenword', ['words']);
    expect([status, metadata['status']]).toEqual([400, 'failure']);
    expect(metadata).toMatchObject({
      error_information: { error_code: 'REJECTED' },
      guardrail_information: [guardrailRun('words', 'pre_call', 'guardrail_intervened')],
    });
  });

  it('200: the spend row of a call that names no guardrail has no runs', async () => {
    const { metadata } = await recordsOf('hi', []);
    expect([metadata['applied_guardrails'], metadata['guardrail_information']]).toEqual([[], null]);
  });

  // Guardrails whose only mode is logging_only run for every call.
  it('200: logging_only masks the records, not the request to the upstream', async () => {
    guarded.setAnswer(`ask ${SECRET}`);
    const { status, text } = await recordsOf(`I am ${SECRET}`, []);
    expect([status, guarded.upstreamRequests()[0]?.body.includes(SECRET), text.includes(SECRET)]).toEqual([
      200,
      true,
      false,
    ]);
    expect([text.includes('I am [EMAIL_REDACTED]'), text.includes('ask [EMAIL_REDACTED]')]).toEqual([true, true]);
  });

  it('200: a guardrail of the model that only masks records is not listed as applied', async () => {
    const answer = await guarded.ask(CHAT, chat('hi', { model: 'recorded-model' }));
    expect([answer.status, answer.headers['x-litellm-applied-guardrails']]).toEqual([200, 'words']);
  });

  it('200: no text of a call is recorded if logging_only blocks one of its texts', async () => {
    guarded.setAnswer('unwritten answer');
    const { status, text } = await recordsOf('hello', []);
    expect([status, text.includes('unwritten'), text.includes('hello')]).toEqual([200, false, false]);
  });

  /** Makes a decision whose answer is the first option. Returns its status, its answer, and the stored decision. */
  async function storedDecision(path: string, options: readonly string[]) {
    const { traceId: callId } = newTrace();
    guarded.setAnswer(options[0] ?? '');
    const question = { type: 'choice', instructions: `for ${SECRET}` };
    const body = path.endsWith('/systemone')
      ? {
          state: { from: SECRET },
          questions: { ok: { ...question, criteria: Object.fromEntries(options.map((one) => [one, SECRET])) } },
        }
      : {
          input: [{ role: 'user', content: SECRET }],
          questions: [{ ...question, name: 'ok', choices: options.map((value) => ({ value, description: SECRET })) }],
        };
    const answer = await guarded.ask(path, { model: 'decider', ...body }, { 'x-litellm-call-id': callId });
    const query = `query ($c: ID!) { decisions(filter: { callId: $c }) { edges { node { input
      answers { ... on ChoiceAnswer { instructions choice distribution { value probability } } } } } } }`;
    const read = await guarded.app.call('POST', '/graphql', { query, variables: { c: callId } });
    const { data } = (await read.json()) as { data: { decisions: { edges: readonly { node: unknown }[] } } };
    return { ...answer, stored: data.decisions.edges.map(({ node }) => node) };
  }

  it.each([
    ['/v1/decisions', [{ role: 'user', content: '[EMAIL_REDACTED]' }]],
    ['/v1/systemone', { from: '[EMAIL_REDACTED]' }],
  ])('200: logging_only masks the decision that %s stores, not its answer', async (path, input) => {
    const { status, body, stored } = await storedDecision(path, [SECRET, 'nobody']);
    expect([status, JSON.stringify(body).includes(SECRET)]).toEqual([200, true]);
    const distribution = [
      { value: '[EMAIL_REDACTED]', probability: 1 },
      { value: 'nobody', probability: 0 },
    ];
    const instructions = 'for [EMAIL_REDACTED]';
    expect(stored).toEqual([{ input, answers: [{ instructions, choice: '[EMAIL_REDACTED]', distribution }] }]);
  });

  it('200: no decision is stored if logging_only blocks one of its texts', async () => {
    const { status, stored } = await storedDecision('/v1/decisions', ['unwritten', 'b']);
    expect([status, stored]).toEqual([200, []]);
  });
});
