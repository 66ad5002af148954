import { expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/chat/chat.ts';
import { ChunkInspector } from '../../../src/wire/chat-completions/inspector.ts';

const FIRST = '{"id":"a","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}';
const USAGE = '{"prompt_tokens":3,"completion_tokens":4}';

/** Outcome of a stream whose second chunk has this JSON, and the message of its error. */
function inspected(chunk: string): { readonly outcome: Outcome; readonly error: string | null } {
  const inspector = new ChunkInspector({
    model: 'm',
    textLimit: 0,
    removeUsageChunk: false,
    formatError: (message) => new TypeError(message),
    upstreamError: ({ message }) => new Error(message),
  });
  inspector.inspect(Buffer.from(`data: ${FIRST}\n\n`));
  const result = inspector.inspect(Buffer.from(`data: ${chunk}\n\n`));
  return { outcome: inspector.outcome(), error: result instanceof Error ? result.message : null };
}

const middle = (members: string, choice = '') =>
  `{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null${choice}}]${members}}`;

it.each([
  ['its usage', middle(`,"usage":${USAGE}`)],
  ['its usage after a space', middle(`,"usage" : ${USAGE}`)],
  ['usage after usage of null in its choice', middle(`,"usage":${USAGE}`, ',"usage":null')],
  ['usage of x_groq after usage of null', middle(`,"usage":null,"x_groq":{"usage":${USAGE}}`)],
])('a chunk in the middle of an answer keeps %s', (_what, chunk) => {
  expect(inspected(chunk).outcome.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
});

it.each([
  ['an object', '{"message":"boom","code":500}'],
  ['a text', '"boom"'],
])('an error that is %s beside a choice ends the stream', (_what, error) => {
  expect(inspected(middle(`,"error":${error}`))).toMatchObject({
    error: 'boom',
    outcome: { failure: { message: 'boom' } },
  });
});

it('an error of null is no error', () => {
  expect(inspected(middle(',"error":null'))).toMatchObject({ error: null, outcome: { failure: null } });
});

it('text with the names of members is text', () => {
  const content = JSON.stringify('"usage":{"prompt_tokens":9} "error":1 "finish_reason":"stop" "name":"f"');
  const chunk = `{"choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}],"usage":null}`;
  expect(inspected(chunk)).toMatchObject({ error: null, outcome: { usage: null, finishReason: null } });
});
