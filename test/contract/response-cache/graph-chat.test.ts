import { afterAll, beforeAll, expect, it } from 'vitest';
import { contentFilter } from '../guardrails/guarded-app.ts';
import { type CachedApp, startCached } from './cached-app.ts';

let cached: CachedApp;
beforeAll(async () => {
  cached = await startCached({
    guardrails: [
      contentFilter('mask', { mode: 'post_call', blocked_words: [{ keyword: 'a5', action: 'MASK' }] }),
      contentFilter('block', { mode: 'post_call', blocked_words: [{ keyword: 'a6', action: 'BLOCK' }] }),
    ],
  });
});
afterAll(() => cached.stop());

async function chat(text: string, parameters: object = {}): Promise<Record<string, unknown>> {
  const query = `mutation ($input: ChatInput!) {
    chat(input: $input) {
      __typename
      ... on ChatCompletion { text finishReason model costUsd usage { inputTokens outputTokens } }
    }
  }`;
  const input = { model: 'chat', messages: [{ role: 'USER', content: text }], parameters };
  const response = await cached.app.call('POST', '/graphql', { query, variables: { input } });
  return ((await response.json()) as { data: { chat: Record<string, unknown> } }).data.chat;
}

it('the mutation chat is answered from the cache, at no cost, with the answers of /v1/chat/completions', async () => {
  const first = await chat('graph');
  expect(first).toEqual({
    __typename: 'ChatCompletion',
    text: 'a1',
    finishReason: 'stop',
    model: 'up',
    costUsd: '0.039',
    usage: { inputTokens: 9, outputTokens: 3 },
  });
  expect(await chat('graph')).toEqual({ ...first, costUsd: '0' });
  const body = { model: 'chat', messages: [{ role: 'user', content: 'graph' }] };
  expect(JSON.parse((await cached.ask('/v1/chat/completions', body)).text)).toMatchObject({
    choices: [{ message: { content: 'a1' } }],
  });
  expect(cached.upstreamCalls()).toBe(1);
  const rest = { model: 'chat', messages: [{ role: 'user', content: 'rest' }] };
  await cached.ask('/v1/chat/completions', rest);
  expect(await chat('rest')).toMatchObject({ text: 'a2', costUsd: '0' });
  expect(cached.upstreamCalls()).toBe(2);
});

it('the mutation chat has the controls of the cache in its parameters', async () => {
  const before = cached.upstreamCalls();
  const first = await chat('controlled');
  expect((await chat('controlled', { cache: { 'no-cache': true } }))['text']).not.toBe(first['text']);
  expect(cached.upstreamCalls()).toBe(before + 2);
});

it('guardrails check the cached answer of the mutation chat', async () => {
  const before = cached.upstreamCalls();
  expect(await chat('masked')).toMatchObject({ text: 'a5' });
  expect((await chat('masked', { guardrails: ['mask'] }))['text']).not.toBe('a5');
  expect(await chat('blocked')).toMatchObject({ text: 'a6' });
  expect((await chat('blocked', { guardrails: ['block'] }))['__typename']).not.toBe('ChatCompletion');
  expect(cached.upstreamCalls()).toBe(before + 2);
});
