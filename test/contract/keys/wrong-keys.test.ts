import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let nowMs: number;

/** A fixed clock, because an address above its limit of wrong keys may look up one unknown key per second. */
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
/** Returns a key that does not exist and was not sent before. */
function newWrongKey(): string {
  guesses += 1;
  return `sk-guess-number-${guesses}-of-many`;
}
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const headersFrom = (address: string, key: string) => ({ authorization: `Bearer ${key}`, 'x-forwarded-for': address });

async function ask(address: string, key: string, method = 'GET', path = '/v1/models', body?: unknown) {
  const response = await app.call(method, path, body, headersFrom(address, key));
  return [response.status, response.headers.get('retry-after'), await response.text()] as const;
}
const statusOf = async (address: string, key: string): Promise<number> => (await ask(address, key))[0];

async function newKey(): Promise<string> {
  return ((await (await app.call('POST', '/key/generate', {})).json()) as { key: string }).key;
}

/** Sends as many wrong keys as an address may send in a minute. */
async function sendWrongKeys(address: string): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt += 1) expect(await statusOf(address, newWrongKey())).toBe(401);
}

const MESSAGE = 'Too many wrong API keys from your address. Try again later.';
const PROXY_ERROR = { error: { message: MESSAGE, type: 'throttling_error', param: null, code: '429' } };

describe('an address that sent too many wrong keys', () => {
  it.each<[string, string, unknown, unknown]>([
    ['GET', '/v1/models', undefined, PROXY_ERROR],
    ['POST', '/v1/chat/completions', { model: 'demo', messages: [] }, PROXY_ERROR],
    ['GET', '/key/info', undefined, PROXY_ERROR],
    ['GET', '/v1/traces', undefined, { detail: MESSAGE }],
    ['POST', '/v1/traces', {}, { message: MESSAGE }],
    ['POST', '/v1/messages', {}, { type: 'error', error: { type: 'rate_limit_error', message: MESSAGE } }],
    ['GET', '/v1beta/models', undefined, { error: { code: 429, message: MESSAGE, status: 'RESOURCE_EXHAUSTED' } }],
  ])('is refused on %s %s with 429 and a retry time', async (method, path, body, expected) => {
    await sendWrongKeys('192.0.2.1');
    const [status, retryAfter, text] = await ask('192.0.2.1', newWrongKey(), method, path, body);
    expect([status, retryAfter, JSON.parse(text)]).toEqual([429, '60', expected]);
  });

  it('is refused by the graph', async () => {
    await sendWrongKeys('192.0.2.1');
    const [status, , text] = await ask('192.0.2.1', newWrongKey(), 'POST', '/graphql', { query: '{ __typename }' });
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

  it('is also refused if it repeats one wrong key', async () => {
    const key = newWrongKey();
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await statusOf('192.0.2.1', key)).toBe(401);
    expect(await statusOf('192.0.2.1', key)).toBe(429);
  });

  it('may use the admin key and valid keys that are cached', async () => {
    const key = await newKey();
    expect(await statusOf('198.51.100.1', key)).toBe(200);
    await sendWrongKeys('192.0.2.1');
    expect(await statusOf('192.0.2.1', key)).toBe(200);
    expect(await statusOf('192.0.2.1', app.adminKey)).toBe(200);
    expect(await statusOf('192.0.2.1', newWrongKey())).toBe(429);
  });

  it('can use a valid key that is not cached once per second, while it is above the limit', async () => {
    const key = await newKey();
    await sendWrongKeys('192.0.2.1');
    expect(await statusOf('192.0.2.1', key)).toBe(429);
    nowMs += 1_000;
    expect(await statusOf('192.0.2.1', key)).toBe(200);
    expect(await statusOf('192.0.2.1', key)).toBe(200);
    expect(await statusOf('192.0.2.1', newWrongKey())).toBe(429);
  });

  it('gets 401 for a wrong key again after a minute, and other addresses are not limited', async () => {
    await sendWrongKeys('192.0.2.1');
    expect(await statusOf('192.0.2.2', newWrongKey())).toBe(401);
    nowMs += 60_000;
    const key = newWrongKey();
    expect(await ask('192.0.2.1', key)).toEqual([
      401,
      null,
      JSON.stringify({
        error: {
          message: `Authentication Error, Invalid proxy server token passed. Received API Key = sk-...${key.slice(-4)}, Key Hash (Token) =${sha256(key)}. Unable to find token in cache or \`LiteLLM_VerificationTokenTable\``,
          type: 'token_not_found_in_db',
          param: 'key',
          code: '401',
        },
      }),
    ]);
  });
});
