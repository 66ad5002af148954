import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CachedApp, startCached } from './cached-app.ts';

let cached: CachedApp;
beforeAll(async () => {
  cached = await startCached();
});
afterAll(() => cached.stop());

let questions = 0;
/** A text that no earlier call of this file has sent. */
const newText = (): string => {
  questions += 1;
  return `question ${questions}`;
};
const messages = (text: string) => [{ role: 'user', content: text }];

/** Asks twice. Returns both answers and the number of calls that the upstream received. */
async function askTwice(path: string, body: object, headers?: Record<string, string>) {
  const before = cached.upstreamCalls();
  const first = await cached.ask(path, body, headers);
  const second = await cached.ask(path, body, headers);
  return { first, second, upstreamCalls: cached.upstreamCalls() - before };
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
  it.each(SURFACES)(
    '%s: the second answer has equal bytes, without a call to the upstream',
    async (_name, path, bodyOf) => {
      const { first, second, upstreamCalls } = await askTwice(path, bodyOf(newText()));
      expect(first.status).toBe(200);
      expect(second).toMatchObject({ status: 200, text: first.text });
      expect(upstreamCalls).toBe(1);
      const key = first.headers['x-litellm-cache-key'];
      expect(key).toMatch(/^[0-9a-f]{64}$/);
      expect(second.headers['x-litellm-cache-key']).toBe(key);
      expect(second.headers['content-type']).toBe(first.headers['content-type']);
      // Headers of the upstream are not stored.
      expect(second.headers['llm_provider-x-request-id']).toBeUndefined();
    },
  );
});

describe('the cache key', () => {
  const chat = (text: string, members: object = {}) => ({ model: 'chat', messages: messages(text), ...members });
  const CHAT = '/v1/chat/completions';

  it.each([
    ['a parameter of the model', { temperature: 0.5 }],
    ['the model group', { model: 'other' }],
    ['the end user', { user: 'someone' }],
    ['a stream', { stream: true }],
    ['a namespace', { cache: { namespace: 'n' } }],
  ])('%s changes the key', async (_name, members) => {
    const text = newText();
    const before = cached.upstreamCalls();
    const plain = await cached.ask(CHAT, chat(text));
    const changed = await cached.ask(CHAT, chat(text, members));
    expect(changed.status).toBe(200);
    expect(cached.upstreamCalls()).toBe(before + 2);
    expect(changed.headers['x-litellm-cache-key']).not.toBe(plain.headers['x-litellm-cache-key']);
  });

  it.each([
    ['metadata and tags', { metadata: { tags: ['a'] }, tags: ['b'] }],
    ['retries', { num_retries: 1 }],
  ])('%s do not change the key', async (_name, members) => {
    const text = newText();
    const before = cached.upstreamCalls();
    await cached.ask(CHAT, chat(text));
    await cached.ask(CHAT, chat(text, members));
    expect(cached.upstreamCalls()).toBe(before + 1);
  });

  it('a request with a duplicate member is not cached: upstream and gateway may read different values', async () => {
    const text = newText();
    const twice = `{"model":"chat","messages":${JSON.stringify(messages('other'))},"messages":${JSON.stringify(messages(text))}}`;
    const before = cached.upstreamCalls();
    expect((await cached.app.call('POST', CHAT, twice)).headers.get('x-litellm-cache-key')).toBeNull();
    await cached.ask(CHAT, chat(text));
    expect(cached.upstreamCalls()).toBe(before + 2);
  });

  it('a deeply nested request does not fail with a status of 500 or more', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const body = `{"model":"chat","messages":${JSON.stringify(messages(newText()))},"extra":${deep}}`;
    const response = await cached.app.call('POST', CHAT, body);
    expect(response.status).toBeLessThan(500);
  });

  it.each([
    ['five messages', { messages: Array.from({ length: 5 }, () => ({ role: 'user', content: 'x' })) }],
    ['a mock answer', { mock_response: 'hi' }],
  ])('a call with %s is not cached', async (_name, members) => {
    const { first, second } = await askTwice(CHAT, chat(newText(), members));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers['x-litellm-cache-key']).toBeUndefined();
  });
});

describe('conversations of an upstream', () => {
  it('a turn is not cached, because the upstream must add the turn to its conversation', async () => {
    const turn = { model: 'chat', input: newText(), conversation: 'conv_1' };
    const { first, second, upstreamCalls } = await askTwice('/v1/responses', turn);
    expect([first.status, second.status, upstreamCalls]).toEqual([200, 200, 2]);
  });
});

describe('a response that was deleted', () => {
  const idIn = (text: string): string => /"id":"(resp_[\w-]+)"/.exec(text)?.[1] ?? '';

  it.each([
    ['at the gateway', 'claude', false],
    ['at the gateway, as a stream', 'claude', true],
    ['at its upstream', 'chat', false],
    ['at its upstream, as a stream', 'chat', true],
  ])('%s, is a miss', async (_where, model, stream) => {
    const body = { model, input: newText(), stream };
    const { first, second, upstreamCalls } = await askTwice('/v1/responses', body);
    expect([second.text, upstreamCalls]).toEqual([first.text, 1]);
    const id = idIn(first.text);
    const deleted = await cached.app.call('DELETE', `/v1/responses/${id}`);
    expect(deleted.status).toBe(200);
    const calls = cached.upstreamCalls();
    const third = await cached.ask('/v1/responses', body);
    expect([third.status, cached.upstreamCalls()]).toEqual([200, calls + 1]);
    expect(idIn(third.text)).not.toBe(id);
    expect((await cached.ask('/v1/responses', body)).text).toBe(third.text);
  });

  it('does not matter for a response that is not stored', async () => {
    const body = { model: 'claude', input: newText(), store: false };
    expect((await askTwice('/v1/responses', body)).upstreamCalls).toBe(1);
  });
});

describe('controls of a request', () => {
  const CHAT = '/v1/chat/completions';
  const chat = (text: string, cache?: object) => ({ model: 'chat', messages: messages(text), ...(cache && { cache }) });

  it('no-cache does not read, no-store does not write, s-maxage limits the age', async () => {
    const text = newText();
    const before = cached.upstreamCalls();
    await cached.ask(CHAT, chat(text, { 'no-store': true }));
    const stored = await cached.ask(CHAT, chat(text));
    expect(cached.upstreamCalls()).toBe(before + 2);
    const fresh = await cached.ask(CHAT, chat(text, { 'no-cache': true }));
    expect(cached.upstreamCalls()).toBe(before + 3);
    expect(fresh.text).not.toBe(stored.text);
    expect((await cached.ask(CHAT, chat(text))).text).toBe(fresh.text);
    expect((await cached.ask(CHAT, chat(text, { 's-maxage': 60 }))).text).toBe(fresh.text);
    expect((await cached.ask(CHAT, chat(text, { 's-max-age': 60 }))).text).toBe(fresh.text);
    expect(cached.upstreamCalls()).toBe(before + 3);
    await cached.ask(CHAT, chat(text, { 's-maxage': 0 }));
    expect(cached.upstreamCalls()).toBe(before + 4);
  });

  it('use-cache false and caching false do not use the cache; ttl 0 stores nothing', async () => {
    for (const members of [{ cache: { 'use-cache': false } }, { caching: false }, { cache: { ttl: 0 } }]) {
      const { upstreamCalls } = await askTwice(CHAT, { ...chat(newText()), ...members });
      expect(upstreamCalls).toBe(2);
    }
  });

  it.each([
    ['cache', 'an object', 'yes'],
    ['cache.ttl', 'a number of seconds from 0 to 31536000', { ttl: -1 }],
    ['cache.s-maxage', 'a number of seconds from 0 to 31536000', { 's-maxage': '9' }],
    ['cache.no-cache', 'a boolean', { 'no-cache': 1 }],
    ['cache.namespace', 'a text of at most 128 letters, digits and _ . : @ / -', { namespace: 'a b' }],
  ])('400: %s must be %s', async (field, wanted, cache) => {
    const { status, text } = await cached.ask(CHAT, { ...chat(newText()), cache });
    expect({ status, body: JSON.parse(text) as unknown }).toEqual({
      status: 400,
      body: {
        error: {
          message: expect.stringContaining(`Invalid type for parameter '${field}': it must be ${wanted}.`),
          type: expect.any(String),
          param: expect.anything(),
          code: expect.any(String),
        },
      },
    });
  });

  it('403: a control that the key does not allow; 200 for allowed controls', async () => {
    const { authorization } = await cached.newKey({ allowed_cache_controls: ['no-cache'] });
    const refused = await cached.ask(CHAT, chat(newText(), { 'no-cache': true, ttl: 5 }), { authorization });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('Not allowed to set ttl as a cache control. Contact admin to change permissions.');
    expect((await cached.ask(CHAT, chat(newText(), { 'no-cache': true }), { authorization })).status).toBe(200);
    const other = await cached.ask(CHAT, { ...chat(newText()), caching: true }, { authorization });
    expect([other.status, other.text.includes('Not allowed to set caching as a cache control.')]).toEqual([403, true]);
    const user = await cached.newKey({ allowed_cache_controls: ['use-cache'] });
    expect(
      (await cached.ask(CHAT, { ...chat(newText()), caching: true }, { authorization: user.authorization })).status,
    ).toBe(200);
  });
});

describe('isolation', () => {
  const CHAT = '/v1/chat/completions';
  const chat = (text: string, model = 'chat') => ({ model, messages: messages(text) });
  const post = async (path: string, body: object) => (await cached.app.call('POST', path, body)).json();

  it('keys of a team share answers; another team and a key without a team do not get them', async () => {
    const { team_id: team } = (await post('/team/new', { team_alias: 'one' })) as { team_id: string };
    const { team_id: otherTeam } = (await post('/team/new', { team_alias: 'two' })) as { team_id: string };
    const [first, second] = [await cached.newKey({ team_id: team }), await cached.newKey({ team_id: team })];
    const [other, alone] = [await cached.newKey({ team_id: otherTeam }), await cached.newKey()];
    const text = newText();
    const before = cached.upstreamCalls();
    const answers = [];
    for (const { authorization } of [first, second, other, alone])
      answers.push((await cached.ask(CHAT, chat(text), { authorization })).text);
    expect(cached.upstreamCalls()).toBe(before + 3);
    expect(answers[1]).toBe(answers[0]);
    expect(new Set(answers).size).toBe(3);
  });

  it('a key that may not call the model does not get a cached answer', async () => {
    const { team_id: team } = (await post('/team/new', { team_alias: 'three' })) as { team_id: string };
    const may = await cached.newKey({ team_id: team });
    const mayNot = await cached.newKey({ team_id: team, models: ['other'] });
    const text = newText();
    expect((await cached.ask(CHAT, chat(text), may)).status).toBe(200);
    expect((await cached.ask(CHAT, chat(text), mayNot)).status).toBeGreaterThanOrEqual(400);
  });

  it('rate limits and budgets refuse calls that the cache could answer', async () => {
    const limited = await cached.newKey({ rpm_limit: 1 });
    const text = newText();
    expect((await cached.ask(CHAT, chat(text), limited)).status).toBe(200);
    expect((await cached.ask(CHAT, chat(text), limited)).status).toBe(429);
    const poor = await cached.newKey({ max_budget: 0.0001 });
    const other = newText();
    await cached.ask(CHAT, chat(other), poor);
    expect((await cached.ask(CHAT, chat(other), poor)).status).toBeGreaterThanOrEqual(400);
  });

  it('keys of a team do not share responses, which later requests can name by id', async () => {
    const { team_id: team } = (await post('/team/new', { team_alias: 'four' })) as { team_id: string };
    const [first, second] = [await cached.newKey({ team_id: team }), await cached.newKey({ team_id: team })];
    const body = { model: 'chat', input: newText() };
    const before = cached.upstreamCalls();
    for (const key of [first, second, first]) await cached.ask('/v1/responses', body, key);
    expect(cached.upstreamCalls()).toBe(before + 2);
  });
});

describe('no cached answer after', () => {
  const CHAT = '/v1/chat/completions';

  it('a failure', async () => {
    const { first, second } = await askTwice(CHAT, { model: 'down', messages: messages(newText()) });
    expect([first.status >= 500, second.status >= 500]).toEqual([true, true]);
  });

  it.each([
    [
      'a stream without an end',
      'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n',
    ],
    ['a stream with an error', 'data: {"error":{"message":"broken","type":"server_error","code":"500"}}\n\n'],
  ])('%s', async (_name, events) => {
    const broken = await startCached();
    broken.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events);
    });
    const body = { model: 'chat', stream: true, messages: messages('cut') };
    await broken.ask(CHAT, body);
    await broken.ask(CHAT, body);
    expect(broken.upstreamCalls()).toBe(2);
    await broken.stop();
  });
});
