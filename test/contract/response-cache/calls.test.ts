import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CachedApp, startCached } from './cached-app.ts';

let cached: CachedApp;
beforeAll(async () => {
  cached = await startCached();
});
afterAll(() => cached.stop());

let questions = 0;
/** A text that no earlier call has. */
const newText = (): string => {
  questions += 1;
  return `question ${questions}`;
};
const messages = (text: string) => [{ role: 'user', content: text }];

/** Asks twice. Returns both answers and the number of calls that the upstream received. */
async function askTwice(path: string, body: object, headers?: Record<string, string>) {
  const before = cached.calls();
  const first = await cached.ask(path, body, headers);
  const second = await cached.ask(path, body, headers);
  return { first, second, upstreamCalls: cached.calls() - before };
}

const SURFACES: readonly (readonly [string, string, (text: string) => object])[] = [
  ['chat', '/v1/chat/completions', (text) => ({ model: 'chat', messages: messages(text) })],
  ['completions', '/v1/completions', (text) => ({ model: 'chat', prompt: text })],
  ['embeddings', '/v1/embeddings', (text) => ({ model: 'chat', input: text })],
  ['responses', '/v1/responses', (text) => ({ model: 'chat', input: text })],
  ['messages', '/v1/messages', (text) => ({ model: 'claude', max_tokens: 9, messages: messages(text) })],
  ['chat of an Anthropic upstream', '/v1/chat/completions', (text) => ({ model: 'claude', messages: messages(text) })],
  [
    'messages of an OpenAI upstream',
    '/v1/messages',
    (text) => ({ model: 'chat', max_tokens: 9, messages: messages(text) }),
  ],
  ['chat stream', '/v1/chat/completions', (text) => ({ model: 'chat', stream: true, messages: messages(text) })],
  ['responses stream', '/v1/responses', (text) => ({ model: 'chat', stream: true, input: text })],
  [
    'messages stream',
    '/v1/messages',
    (text) => ({ model: 'claude', max_tokens: 9, stream: true, messages: messages(text) }),
  ],
  [
    'chat stream of an Anthropic upstream',
    '/v1/chat/completions',
    (text) => ({ model: 'claude', stream: true, messages: messages(text) }),
  ],
  [
    'messages stream of an OpenAI upstream',
    '/v1/messages',
    (text) => ({ model: 'chat', max_tokens: 9, stream: true, messages: messages(text) }),
  ],
];

describe('answers from the cache', () => {
  it.each(SURFACES)('%s: the second answer has the same bytes, without a call', async (_name, path, bodyOf) => {
    const { first, second, upstreamCalls } = await askTwice(path, bodyOf(newText()));
    expect(first.status).toBe(200);
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(upstreamCalls).toBe(1);
    const key = first.headers['x-litellm-cache-key'];
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(second.headers['x-litellm-cache-key']).toBe(key);
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
    // Headers of the first upstream are not those of the second call.
    expect(second.headers['llm_provider-x-request-id']).toBeUndefined();
  });
});
