import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { newTrace } from '../inference/trace-spans.ts';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const SECRET = 'a@b.io';
const MASKED = '[EMAIL_REDACTED]';
const BLOCKED = 'classified';

let guarded: GuardedApp;
let service: FaultServer;
beforeAll(async () => {
  service = await startFaultServer();
  const patterns = [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }];
  const words = { blocked_words: [{ keyword: BLOCKED, action: 'BLOCK' }] };
  const slow = { guardrail: 'generic_guardrail_api', mode: 'during_call', api_base: service.url };
  guarded = await startGuarded(
    [
      contentFilter('block before', words),
      contentFilter('mask before', { patterns }),
      contentFilter('mask after', { mode: 'post_call', patterns }),
      contentFilter('block after', { mode: 'post_call', ...words }),
      { guardrail_name: 'beside', litellm_params: slow },
    ],
    { general: { store_prompts_in_spend_logs: true } },
  );
});
beforeEach(() => guarded.setAnswer('hello there'));
afterAll(async () => {
  await guarded.stop();
  await service.stop();
});

/** Makes a call. Returns its answer, and input and output of its span. */
async function recorded(path: string, body: object, headers: Record<string, string> = {}) {
  const { traceId, headers: trace } = newTrace();
  const { status, body: answer } = await guarded.ask(path, body, { ...trace, ...headers });
  const query = 'query ($id: ID!) { trace(id: $id) { spans { edges { node { type input output } } } } }';
  const read = await guarded.app.call('POST', '/graphql', { query, variables: { id: traceId } });
  const { data } = (await read.json()) as {
    data: { trace: { spans: { edges: readonly { node: { type: string; input: string; output: string } }[] } } };
  };
  const call = data.trace.spans.edges.map(({ node }) => node).find(({ type }) => type !== 'GUARDRAIL');
  return { status, answer, input: call?.input, output: call?.output };
}

const messages = [{ role: 'user', content: 'hi' }];
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];

/** Calls of each dialect: path, and body. */
const CALLS: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { model: 'chat', messages }],
  ['/v1/completions', { model: 'chat', prompt: 'hi' }],
  ['/v1/messages', { model: 'chat', max_tokens: 9, messages }],
  ['/v1/responses', { model: 'chat', input: 'hi' }],
  ['/v1/responses', { model: 'claude', input: 'hi' }],
  ['/v1beta/models/chat:generateContent', { contents }],
];
const STREAMS: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { model: 'chat', messages, stream: true }],
  ['/v1/messages', { model: 'chat', max_tokens: 9, messages, stream: true }],
  ['/v1beta/models/chat:streamGenerateContent?alt=sse', { contents }],
];
const GUARDS = ['mask after', 'block after'];

describe.each([...CALLS, ...STREAMS])('the record of %s %j', (path, body) => {
  it('200: has the answer as it was masked', async () => {
    guarded.setAnswer('ask ', SECRET, ' now');
    const { status, answer, output } = await recorded(path, { ...body, guardrails: GUARDS });
    expect([status, JSON.stringify(answer).includes(SECRET), output]).toEqual([200, false, `ask ${MASKED} now`]);
  });

  it('400: has no answer that was blocked', async () => {
    guarded.setAnswer('it is ', BLOCKED);
    const { status, output } = await recorded(path, { ...body, guardrails: GUARDS });
    expect([status, output]).toEqual([400, null]);
  });
});

const CHAT = '/v1/chat/completions';
const LONG = ['one ', 'two ', 'three ', 'four ', 'five ', 'six ', 'class', 'ified ', 'end'];
/** Values of the members with this name in a text, in order. */
const valuesOf = (text: unknown, name: string): readonly string[] =>
  [...String(text).matchAll(new RegExp(`"${name}":"([^"]*)"`, 'g'))].map(([, value]) => value ?? '');

describe('the record of a call whose request', () => {
  const chat = (content: string, guardrails: readonly string[]) => ({
    model: 'chat',
    messages: [{ role: 'user', content }],
    guardrails,
  });

  it('400: was blocked before all its guardrails ran has no prompt', async () => {
    const { status, input, output } = await recorded(
      CHAT,
      chat(`${SECRET} ${BLOCKED}`, ['block before', 'mask before']),
    );
    expect([status, input, output]).toEqual([400, null, null]);
  });

  it('429: was refused before its guardrails ran has no prompt', async () => {
    const key = await guarded.newKey({ rpm_limit: 0 });
    const { status, input } = await recorded(CHAT, chat(SECRET, ['mask before']), key);
    expect([status, input]).toEqual([429, null]);
  });

  it('500: was masked, and whose upstream failed, has the masked prompt', async () => {
    const { status, input } = await recorded(CHAT, { ...chat(SECRET, ['mask before']), model: 'down' });
    expect([status, input]).toEqual([500, JSON.stringify([{ role: 'user', content: MASKED }])]);
  });

  it('400: was blocked during the call has no answer', async () => {
    guarded.setAnswer(BLOCKED);
    const answered = guarded.upstream.received.length;
    service.answer((response) => {
      const block = (): void => {
        // The block comes after the answer of the upstream.
        if (guarded.upstream.received.length === answered) return void setImmediate(block);
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ action: 'BLOCKED', blocked_reason: 'no' }));
      };
      block();
    });
    const { status, input, output } = await recorded(CHAT, chat('hi', ['beside']));
    expect([status, input, output, guarded.upstreamRequests()]).toEqual([
      400,
      JSON.stringify(messages),
      null,
      [expect.anything()],
    ]);
  });
});

describe('the record of a stream that a guardrail ends', () => {
  it('has the text that a subscriber of the graph received', async () => {
    guarded.setAnswer(...LONG);
    const query = `subscription ($input: ChatInput!) { chatStream(input: $input) { __typename ... on ChatText { textSoFar } } }`;
    const input = { model: 'chat', messages: [{ role: 'USER', content: 'hi' }], parameters: { guardrails: GUARDS } };
    const { traceId } = newTrace();
    const traceparent = `00-${traceId}-6666666666666666-01`;
    const body = { query, variables: { input: { ...input, traceparent } } };
    const { body: events } = await guarded.ask('/graphql/stream', body, { accept: 'text/event-stream' });
    const spans = 'query ($id: ID!) { trace(id: $id) { spans { edges { node { type output } } } } }';
    const read = await guarded.app.call('POST', '/graphql', { query: spans, variables: { id: traceId } });
    const received = valuesOf(events, 'textSoFar').at(-1);
    expect(received).toMatch(/^one two .*[^s] $/);
    expect(valuesOf(await read.text(), 'output')).toContain(received);
  });

  it('200: has the text that the client received', async () => {
    guarded.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const pieces = [...LONG];
      const next = (): void => {
        const content = pieces.shift();
        const choices = [{ index: 0, delta: { content }, finish_reason: null }];
        const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', choices };
        if (content === undefined) response.end('data: [DONE]\n\n');
        else response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => setImmediate(next));
      };
      next();
    });
    const { status, answer, output } = await recorded(CHAT, {
      model: 'chat',
      messages,
      stream: true,
      guardrails: GUARDS,
    });
    expect([status, output]).toEqual([200, valuesOf(answer, 'content').join('')]);
    expect(output).toMatch(/^one two .*[^s] $/);
  });
});
