import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTrace } from '../inference/trace-spans.ts';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const WORD = 'forbiddenword';
/** `WORD` with one letter as a JSON escape, which a parser decodes. */
const ESCAPED = String.raw`forbidden\u0077ord`;

let guarded: GuardedApp;
beforeAll(async () => {
  guarded = await startGuarded(
    [
      contentFilter('mask', { patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }] }),
      contentFilter('words', { default_on: true, blocked_words: [{ keyword: WORD, action: 'BLOCK' }] }),
    ],
    { passThrough: { path: '/own', guardrails: { words: null } }, general: { store_prompts_in_spend_logs: true } },
  );
});
afterAll(() => guarded.stop());

type RequestCase = readonly [path: string, body: object | string];

const CHAT = '/v1/chat/completions';
const user = { role: 'user', content: 'hi' };
const chat = (model: string, ...messages: object[]): RequestCase => [CHAT, { model, messages }];
const messages = (model: string, content: object[]): RequestCase => [
  '/v1/messages',
  { model, max_tokens: 9, messages: [user, { role: 'assistant', content }, user] },
];
const responses = (item: object): RequestCase => ['/v1/responses', { model: 'chat', input: [user, item] }];
const gemini = (part: object): RequestCase => [
  '/v1beta/models/gemini-up:generateContent',
  { contents: [{ role: 'user', parts: [part] }] },
];
const toolCall = { id: 'c', type: 'function', function: { name: 'f', arguments: `{"a":"${ESCAPED}"}` } };
const decision = (input: object): RequestCase => [
  '/v1/decisions',
  {
    model: 'decider',
    input: [{ role: 'user', content: [input] }],
    questions: [{ type: 'predicate', name: 'ok', instructions: 'a' }],
  },
];

const CASES: Readonly<Record<string, RequestCase>> = {
  'a message of the type image': chat('chat', { role: 'user', type: 'image', content: WORD }),
  'a message marked as a thought': chat('chat', { role: 'user', thought: true, content: WORD }),
  'a part marked as a thought': chat('chat', {
    role: 'user',
    content: [{ type: 'text', thought: true, text: WORD }],
  }),
  'the reasoning of an earlier answer': chat('chat', user, {
    role: 'assistant',
    content: 'a',
    reasoning_content: WORD,
  }),
  'the thinking blocks of an earlier answer': chat('claude', user, {
    role: 'assistant',
    content: 'a',
    thinking_blocks: [{ type: 'thinking', thinking: WORD, signature: 'x' }],
  }),
  'escaped arguments of a tool call': chat('chat', user, { role: 'assistant', content: null, tool_calls: [toolCall] }),
  'messages of a fallback': [
    CHAT,
    { model: 'down', messages: [user], fallbacks: [{ model: 'chat', messages: [{ role: 'user', content: WORD }] }] },
  ],
  'a signed thinking block': messages('claude', [{ type: 'thinking', thinking: WORD, signature: 'x' }]),
  'the text of an image block': messages('claude', [
    { type: 'image', text: WORD, source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  ]),
  'the source of a search result': messages('claude', [
    { type: 'search_result', source: WORD, title: 't', content: [{ type: 'text', text: 'x' }] },
  ]),
  'the query of a web search call': responses({
    type: 'web_search_call',
    id: 'x',
    status: 'completed',
    action: { type: 'search', query: WORD },
  }),
  'commands of a shell call': responses({ type: 'shell_call', call_id: 'x', action: { commands: [WORD] } }),
  'variables of a stored prompt': [
    '/v1/responses',
    { model: 'chat', input: 'a', prompt: { id: 'p', variables: { a: WORD } } },
  ],
  'a thought in generateContent': gemini({ text: WORD, thought: true }),
  'code in generateContent': gemini({ executableCode: { language: 'PYTHON', code: WORD } }),
  'a member of a JSON item': decision({ type: 'input_json', data: { type: WORD } }),
  'messages of a token count': [
    '/v1/messages/count_tokens',
    { model: 'claude', messages: [{ role: 'user', content: WORD }] },
  ],
  'contents of a token count': [
    '/v1beta/models/gemini-up:countTokens',
    { generateContentRequest: { contents: [{ parts: [{ text: WORD }] }] } },
  ],
  'an escaped text of a list on a pass-through path': ['/own', `["${ESCAPED}"]`],
};

describe('a blocked word does not reach an upstream', () => {
  it.each(Object.entries(CASES))('400: in %s', async (_name, [path, body]) => {
    const { status, body: answer } = await guarded.ask(path, body as object);
    expect([status, guarded.upstreamRequests(), JSON.stringify(answer)]).toEqual([
      400,
      [],
      expect.stringContaining('Content blocked'),
    ]);
  });

  it('400: in a form on a pass-through path', async () => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status } = await guarded.ask('/own', 'a=forbidden%77ord' as unknown as object, type);
    expect([status, guarded.upstreamRequests()]).toEqual([400, []]);
  });

  it.each([
    [CHAT, `{"model":"chat","messages":[{"role":"user","content":"${WORD}","content":"ok"}]}`],
    [CHAT, `{"model":"chat","messages":[{"role":"user","content":"${WORD}","c\\u006fntent":"ok"}]}`],
    ['/own', `{"a":"${WORD}","a":"ok"}`],
  ])('400: on %s, a duplicate member in %s', async (path, body) => {
    const { status, body: answer } = await guarded.ask(path, body as unknown as object);
    expect([status, guarded.upstreamRequests(), JSON.stringify(answer)]).toEqual([
      400,
      [],
      expect.stringContaining('twice'),
    ]);
  });
});

it('400: a masked text that another guardrail blocks is recorded as masked', async () => {
  const { traceId, headers } = newTrace();
  const body = {
    model: 'chat',
    messages: [{ role: 'user', content: `to x@example.com ${WORD}` }],
    guardrails: ['mask'],
  };
  const { status } = await guarded.ask(CHAT, body, headers);
  const read = await guarded.app.call('GET', `/v1/traces/${traceId}`);
  const trace = await read.text();
  expect([status, trace.includes('EMAIL_REDACTED'), trace.includes('x@example.com')]).toEqual([400, true, false]);
});
