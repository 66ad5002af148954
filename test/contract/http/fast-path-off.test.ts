import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const chat = (members: Record<string, unknown> = {}) => ({
  model: 'demo',
  messages: MESSAGES,
  mock_response: 'Fixed.',
  ...members,
});

/** Title, path, body and headers. */
type Call = readonly [string, string, unknown, Record<string, string>?];

/** Calls to models on the fast path, with success and failure. */
const CALLS: readonly Call[] = [
  ['a call', '/v1/chat/completions', chat()],
  ['a call without /v1', '/chat/completions', chat()],
  ['a stream', '/v1/chat/completions', chat({ stream: true })],
  ['a large body', '/v1/chat/completions', chat({ user: 'u'.repeat(200_000) })],
  ['a body that is cut off', '/v1/chat/completions', '{"model":'],
  ['no body', '/v1/chat/completions', ''],
  ['an unknown model', '/v1/chat/completions', chat({ model: 'no-such-model' })],
  ['an unknown key', '/v1/chat/completions', chat(), { authorization: 'Bearer sk-unknown' }],
  ['a malformed key', '/v1/chat/completions', chat(), { authorization: 'Basic abc' }],
  ['a call of an IDE', '/cursor/chat/completions', chat()],
  ['an embedding of a chat model', '/v1/embeddings', { model: 'demo', input: 'Hi' }],
  ['a message', '/v1/messages', chat({ max_tokens: 9 })],
  ['a message without max_tokens', '/v1/messages', chat()],
  ['a count of tokens', '/v1/messages/count_tokens', { model: 'demo', messages: MESSAGES }],
  ['an export of spans', '/v1/traces', { resourceSpans: [] }],
  ['an export that is not JSON', '/v1/traces', '{"resourceSpans":'],
  ['an export with an unknown key', '/v1/traces', { resourceSpans: [] }, { authorization: 'Bearer sk-unknown' }],
  ['a response', '/v1/responses', { model: 'demo', input: 'Hi', mock_response: 'Fixed.' }],
];

/** Ids and times in an answer. */
const VARIABLE =
  /\b(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?:chatcmpl|resp|msg|rs|item)[-_][\w=-]+|\d{10}(?:\.\d+)?)\b/g;
/** Headers whose values differ between equal calls. */
const VARYING_HEADERS = /^(?:date|x-litellm-(?:callback|overhead|response)-duration-ms|x-litellm-key-spend)$/;

async function answerOf(app: TestApp, path: string, body: unknown, headers?: Record<string, string>) {
  const answer = await app.call('POST', path, body, headers);
  return {
    status: answer.status,
    headers: [...answer.headers].map(([name, value]) => [
      name,
      VARYING_HEADERS.test(name) ? '' : value.replaceAll(VARIABLE, '#'),
    ]),
    body: (await answer.text()).replaceAll(VARIABLE, '#'),
  };
}

let appWithFastPath: TestApp;
let appWithoutFastPath: TestApp;
beforeAll(async () => {
  [appWithFastPath, appWithoutFastPath] = [await startApp(), await startApp({ env: { LENSGATE_FAST_PATH: 'off' } })];
});
afterAll(() => Promise.all([appWithFastPath.stop(), appWithoutFastPath.stop()]));

it.each(CALLS.map((call) => ({ title: call[0], call })))(
  'with the fast path off, $title has the same answer',
  async ({ call }) => {
    const [, path, body, headers] = call;
    const expected = await answerOf(appWithFastPath, path, body, headers);
    expect(expected.status).not.toBe(404);
    expect(await answerOf(appWithoutFastPath, path, body, headers)).toEqual(expected);
  },
);
