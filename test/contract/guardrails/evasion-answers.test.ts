import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';
const BLOCKED_TEXT = 'classified';

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded(
    [
      contentFilter('after', {
        mode: 'post_call',
        default_on: true,
        patterns: [
          { pattern_type: 'regex', pattern: BLOCKED_TEXT, name: 'hit', action: 'BLOCK' },
          { pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' },
        ],
      }),
    ],
    { passThrough: { path: '/own', guardrails: { after: null } } },
  );
});
afterAll(() => guarded.stop());

const CHAT = '/v1/chat/completions';
const chatBody = (members: object = {}) => ({ model: 'chat', messages: [{ role: 'user', content: 'hi' }], ...members });

/** Makes the upstream answer with this content type, and write a list of texts one by one. */
function serve(type: string, answer: string | readonly string[]): void {
  guarded.upstream.answer((response: ServerResponse) => {
    response.writeHead(200, { 'content-type': type });
    const pieces = typeof answer === 'string' ? [answer] : [...answer];
    const next = (): void => {
      const piece = pieces.shift();
      if (piece === undefined) response.end();
      else response.write(piece, () => setTimeout(next, 2));
    };
    next();
  });
}

/** Status and body of the answer to a call, as one text. */
async function statusAndBody(
  path: string,
  body: object,
  type: string,
  answer: string | readonly string[],
): Promise<string> {
  serve(type, answer);
  const { status, body: answerBody } = await guarded.ask(path, body);
  return `${status} ${typeof answerBody === 'string' ? answerBody : JSON.stringify(answerBody)}`;
}

const completion = (message: object, members: object = {}): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'x', ...message }, finish_reason: 'stop', ...members },
    ],
  });
const chunk = (delta: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const cleanChunks = Array.from({ length: 6 }, () => chunk({ content: 'a ' }));

describe('a masked text does not appear in another member', () => {
  it('200: in the `logprobs` of a chat', async () => {
    const logprobs = { content: [{ token: 'john.doe@', logprob: 0, top_logprobs: [] }] };
    const text = await statusAndBody(
      CHAT,
      chatBody(),
      'application/json',
      completion({ content: `to ${SECRET}` }, { logprobs }),
    );
    expect([text.startsWith('200'), text.includes('to [EMAIL_REDACTED]'), text.includes('john')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('200: in the reasoning of a chat', async () => {
    const answer = completion({ reasoning: SECRET, reasoning_details: [{ type: 'reasoning.text', text: SECRET }] });
    const text = await statusAndBody(CHAT, chatBody(), 'application/json', answer);
    expect([text.startsWith('200'), text.includes('john')]).toEqual([true, false]);
  });
});

const BLOCKED_DELTAS: readonly object[] = [
  { reasoning: BLOCKED_TEXT },
  { content: [{ type: 'text', text: BLOCKED_TEXT }] },
  { function_call: { arguments: BLOCKED_TEXT } },
  { audio: { transcript: BLOCKED_TEXT } },
  { thinking_blocks: [{ thinking: BLOCKED_TEXT }] },
  { tool_calls: [{ index: 0, function: { arguments: String.raw`{"a":"\u0063lassified"}` } }] },
];

describe('a blocked text does not reach the caller of a stream', () => {
  it.each(BLOCKED_DELTAS)('in the delta %j', async (delta) => {
    const text = await statusAndBody(CHAT, chatBody({ stream: true }), 'text/event-stream', [
      ...cleanChunks,
      chunk(delta),
      'data: [DONE]\n\n',
    ]);
    // `lassified` also finds the text whose first letter is escaped.
    expect([text.includes('hit pattern detected'), text.includes('lassified')]).toEqual([true, false]);
  });

  it('in an event with several lines of data', async () => {
    const event = chunk({ content: BLOCKED_TEXT }).replace('"delta":', '"delta":\ndata: ');
    const text = await statusAndBody(CHAT, chatBody({ stream: true }), 'text/event-stream', [
      event,
      'data: [DONE]\n\n',
    ]);
    expect([text.includes('hit pattern detected'), text.includes(BLOCKED_TEXT)]).toEqual([true, false]);
  });

  it.each(['response.completed', 'response.output_item.done', 'response.output_text.done'])(
    'in %s of a response, if no other event has the text',
    async (type) => {
      const item = {
        type: 'message',
        id: 'm',
        role: 'assistant',
        content: [{ type: 'output_text', text: BLOCKED_TEXT, annotations: [] }],
      };
      const base = { id: 'resp_1', object: 'response', status: 'completed', model: 'up', created_at: 1, output: [] };
      const end = { type: 'response.completed', response: base };
      const events: Readonly<Record<string, readonly object[]>> = {
        'response.completed': [{ ...end, response: { ...base, output: [item] } }],
        'response.output_item.done': [{ type, output_index: 0, item }, end],
        'response.output_text.done': [{ type, output_index: 0, content_index: 0, text: BLOCKED_TEXT }, end],
      };
      const lines = (events[type] ?? []).map((event) => `data: ${JSON.stringify(event)}\n\n`);
      const text = await statusAndBody(
        '/v1/responses',
        { model: 'chat', input: 'a', stream: true },
        'text/event-stream',
        lines,
      );
      expect([text.includes('hit pattern detected'), text.includes(BLOCKED_TEXT)]).toEqual([true, false]);
    },
  );

  it('in the start event of a content block of Messages', async () => {
    const events = [
      {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'up',
          content: [],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: { a: BLOCKED_TEXT } },
      },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    const body = { ...chatBody({ model: 'claude', stream: true }), max_tokens: 9 };
    const text = await statusAndBody('/v1/messages', body, 'text/event-stream', events);
    expect([text.includes('hit pattern detected'), text.includes(BLOCKED_TEXT)]).toEqual([true, false]);
  });
});

describe('a blocked text does not reach the caller of a pass-through path', () => {
  it.each([
    ['application/x-ndjson', `{"a":"${BLOCKED_TEXT}"}\n`],
    ['application/xml', `<a>${BLOCKED_TEXT}</a>`],
    ['text/event-stream', `data: {"other":"${BLOCKED_TEXT}"}\n\n`],
    ['text/event-stream', `data: ${BLOCKED_TEXT}\n\n`],
  ])('in an answer of the content type %s', async (type, answer) => {
    const text = await statusAndBody('/own', { a: 1 }, type, answer);
    expect([text.includes('hit pattern detected'), text.includes(BLOCKED_TEXT)]).toEqual([true, false]);
  });

  it('200, then the end of the connection: no byte of an event is sent before the event is checked', async () => {
    serve('text/event-stream', [
      ...Array.from({ length: 9 }, () => 'data: {"a":"b"}\n\n'),
      ...`data: {"other":"${BLOCKED_TEXT}${'x'.repeat(9)}"}\n\n`.split(''),
    ]);
    const response = await guarded.app.call('POST', '/own', { a: 1 });
    let text = '';
    const readAll = async (): Promise<void> => {
      for await (const piece of response.body ?? []) text += Buffer.from(piece as Uint8Array).toString();
    };
    await expect(readAll()).rejects.toThrow('terminated');
    expect([response.status, text.includes('"b"'), text.includes('other')]).toEqual([200, true, false]);
  });
});
