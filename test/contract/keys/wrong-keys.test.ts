import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let nowMs: number;

/** The test sets the clock, so that elapsed time does not admit further look-ups. */
beforeEach(async () => {
  app = await startApp({ env: { LENSGATE_WRONG_KEYS_PER_MINUTE: '3', LENSGATE_TRUSTED_PROXIES: '127.0.0.1' } });
  nowMs = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await app.stop();
});

let guesses = 0;
/** Returns a new unknown key. */
function guess(): string {
  guesses += 1;
  return `sk-guess-number-${guesses}-of-many`;
}
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const from = (address: string, key: string) => ({ authorization: `Bearer ${key}`, 'x-forwarded-for': address });

async function ask(address: string, key: string, method = 'GET', path = '/v1/models', body?: unknown) {
  const response = await app.call(method, path, body, from(address, key));
  return [response.status, response.headers.get('retry-after'), await response.text()] as const;
}
const statusOf = async (address: string, key: string): Promise<number> => (await ask(address, key))[0];

async function newKey(): Promise<string> {
  return ((await (await app.call('POST', '/key/generate', {})).json()) as { key: string }).key;
}

async function useUp(address: string): Promise<void> {
  for (let time = 0; time < 3; time += 1) expect(await statusOf(address, guess())).toBe(401);
}

const MESSAGE = 'Too many wrong API keys from your address. Try again later.';
const PROXY = { error: { message: MESSAGE, type: 'throttling_error', param: null, code: '429' } };

describe('an address that sent too many wrong keys', () => {
  it.each<[string, string, unknown, unknown]>([
    ['GET', '/v1/models', undefined, PROXY],
    ['POST', '/v1/chat/completions', { model: 'demo', messages: [] }, PROXY],
    ['GET', '/key/info', undefined, PROXY],
    ['GET', '/v1/traces', undefined, { detail: MESSAGE }],
    ['POST', '/v1/traces', {}, { message: MESSAGE }],
    ['POST', '/v1/messages', {}, { type: 'error', error: { type: 'rate_limit_error', message: MESSAGE } }],
    ['GET', '/v1beta/models', undefined, { error: { code: 429, message: MESSAGE, status: 'RESOURCE_EXHAUSTED' } }],
  ])('is refused on %s %s with 429 and a retry time', async (method, path, body, expected) => {
    await useUp('192.0.2.1');
    const [status, retryAfter, text] = await ask('192.0.2.1', guess(), method, path, body);
    expect([status, retryAfter, JSON.parse(text)]).toEqual([429, '60', expected]);
  });

  it('is refused by the graph', async () => {
    await useUp('192.0.2.1');
    const [status, , text] = await ask('192.0.2.1', guess(), 'POST', '/graphql', { query: '{ __typename }' });
    // The graph answers a refused credential with status 200.
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        errors: [
          {
            message: MESSAGE,
            extensions: { code: 'LIMIT_EXCEEDED', limit: 'requests', retryAfterSeconds: 60 },
          },
        ],
      },
    ]);
  });

  it('is refused with one repeated wrong key, too', async () => {
    const key = guess();
    for (let time = 0; time < 3; time += 1) expect(await statusOf('192.0.2.1', key)).toBe(401);
    expect(await statusOf('192.0.2.1', key)).toBe(429);
  });

  it('may use the admin key and valid keys that are cached', async () => {
    const key = await newKey();
    expect(await statusOf('198.51.100.1', key)).toBe(200);
    await useUp('192.0.2.1');
    expect(await statusOf('192.0.2.1', key)).toBe(200);
    expect(await statusOf('192.0.2.1', app.adminKey)).toBe(200);
    expect(await statusOf('192.0.2.1', guess())).toBe(429);
  });

  it('may look up one key per second: a valid key that is not cached is then accepted', async () => {
    const key = await newKey();
    await useUp('192.0.2.1');
    expect(await statusOf('192.0.2.1', key)).toBe(429);
    nowMs += 1_000;
    expect(await statusOf('192.0.2.1', key)).toBe(200);
    expect(await statusOf('192.0.2.1', key)).toBe(200);
    expect(await statusOf('192.0.2.1', guess())).toBe(429);
  });

  it('may retry after a minute; other addresses are not limited', async () => {
    await useUp('192.0.2.1');
    expect(await statusOf('192.0.2.2', guess())).toBe(401);
    nowMs += 60_000;
    const key = guess();
    expect(await ask('192.0.2.1', key)).toEqual([
      401,
      null,
      JSON.stringify({
        error: {
          message: `Authentication Error, Invalid proxy server token passed. Received API Key = sk-...${key.slice(-4)}, Key Hash (Token) =${sha256(key)}. There is no such key.`,
          type: 'token_not_found_in_db',
          param: 'key',
          code: '401',
        },
      }),
    ]);
  });
});
