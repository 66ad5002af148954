import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

let guarded: GuardedApp;
beforeAll(async () => {
  const patterns = [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }];
  guarded = await startGuarded([contentFilter('masks', { mode: 'post_call', default_on: true, patterns })], {
    passThrough: { path: '/own', guardrails: { masks: null } },
  });
});
afterAll(() => guarded.stop());

const PIECES = ['one', ' mail', ' jo', 'hn', '@', 'example', '.com', ' and', ' more', ' and', ' end'];
const MASKED = 'one mail [EMAIL_REDACTED] and more and end';

/** Makes the upstream answer with these events, one in each write. */
function stream(events: readonly string[]): void {
  guarded.upstream.answer((response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const remaining = [...events];
    const next = (): void => {
      const event = remaining.shift();
      if (event === undefined) response.end();
      else response.write(event, () => setImmediate(next));
    };
    next();
  });
}

const event = (value: { readonly type?: string; readonly [member: string]: unknown }): string =>
  `${value.type === undefined ? '' : `event: ${value.type}\n`}data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, members: object = {}): string =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [{ index: 0, delta, finish_reason: null, ...members }],
  });

async function statusAndBody(path: string, body: object, events: readonly string[]): Promise<string> {
  stream(events);
  const { status, body: answerBody } = await guarded.ask(path, body);
  return `${status} ${typeof answerBody === 'string' ? answerBody : JSON.stringify(answerBody)}`;
}

/** Concatenates the string values of every member called `name` in a stream. */
const valuesOf = (text: string, name: string): string =>
  [...text.matchAll(new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)"`, 'g'))].map(([, value]) => value).join('');

const messages = [{ role: 'user', content: 'hi' }];
const CHAT = { model: 'chat', stream: true, messages };
const PATH = '/v1/chat/completions';

describe('an email address that is split across events of a stream is masked', () => {
  it('in the messages dialect', async () => {
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'up', content: [] };
    const text = await statusAndBody('/v1/messages', { model: 'claude', max_tokens: 9, stream: true, messages }, [
      event({ type: 'message_start', message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...PIECES.map((piece) =>
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } }),
      ),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
      event({ type: 'message_stop' }),
    ]);
    expect([valuesOf(text, 'text'), text.includes('message_stop'), text.includes('john')]).toEqual([
      MASKED,
      true,
      false,
    ]);
  });

  it('in generateContent, also across the parts of one event', async () => {
    const part = (...texts: readonly string[]): string =>
      event({ candidates: [{ content: { role: 'model', parts: texts.map((text) => ({ text })) }, index: 0 }] });
    const last = event({ candidates: [{ finishReason: 'STOP', index: 0 }] });
    const [firstParts, laterParts] = [PIECES.slice(0, 3), PIECES.slice(3)];
    const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
    const path = '/v1beta/models/gemini-up:streamGenerateContent?alt=sse';
    const text = await statusAndBody(path, body, [
      part(...firstParts),
      ...laterParts.map((piece) => part(piece)),
      last,
    ]);
    expect([valuesOf(text, 'text'), text.includes('john')]).toEqual([MASKED, false]);
  });

  it('in the arguments of a tool call and in `logprobs` of a chat', async () => {
    const call = (piece: string): string =>
      chunk(
        { tool_calls: [{ index: 0, function: { arguments: piece } }] },
        { logprobs: { content: [{ token: piece }] } },
      );
    const pieces = ['{"name":"J', String.raw`\u00fcrgen","mail":"john`, String.raw`\u0040example.com"`, '}'];
    const text = await statusAndBody(PATH, CHAT, [...pieces.map(call), 'data: [DONE]\n\n']);
    expect([valuesOf(text, 'arguments'), text.includes('john'), text.includes('DONE')]).toEqual([
      String.raw`{\"name\":\"Jürgen\",\"mail\":\"[EMAIL_REDACTED]\"}`,
      false,
      true,
    ]);
  });

  it('in a chat whose events have several lines of data', async () => {
    const cut = PIECES.map((content) => chunk({ content }).replace('"delta":', '"delta":\r\ndata: '));
    const text = await statusAndBody(PATH, CHAT, [...cut, 'data: [DONE]\n\n']);
    expect([valuesOf(text, 'content'), text.includes('john')]).toEqual([MASKED, false]);
  });
});

describe('a text that cannot be masked in a stream is not sent', () => {
  it.each([
    ['in an event of an unknown format', event({ notice: 'john@example.com' })],
    ['in data that are not JSON', 'data: john@example.com\n\n'],
    ['in a line without a field name', 'john@example.com\n\n'],
    [
      'in a `done` event that repeats the text',
      event({ type: 'response.output_text.done', text: 'a john@example.com' }),
    ],
    ['after a byte order mark', `\uFEFF${event({ notice: 'john@example.com' })}`],
    ['in a last line without a line break', 'data: {"notice":"john@example.com"}'],
  ])('400: %s', async (_where, last) => {
    const text = await statusAndBody('/own', { a: 1 }, [chunk({ content: 'a' }), last]);
    expect([text.startsWith('400'), text.includes('would mask a text'), text.includes('john')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
