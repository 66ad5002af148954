import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

const ALLOWED = 'https://app.example';
const OTHER = 'https://other.example';
const CHAT = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hi' }] });
const GRAPH = '{"query":"{__typename}"}';
const EXPOSED = '*, x-request-id, x-litellm-call-id, x-catalog-snapshot, retry-after, mcp-session-id, www-authenticate';

/** One path of REST, of the fast path and of the graph. */
const PATHS = [
  ['GET', '/v1/models', undefined],
  ['POST', '/v1/chat/completions', CHAT],
  ['POST', '/graphql', GRAPH],
] as const;

/** CORS headers and `Vary` of an answer. */
const corsHeaders = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-')));

const preflight = (app: TestApp, path: string, origin: string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}${path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', ...headers },
  });

describe('CORS with a list of origins', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({
      config: { general_settings: { cors_allowed_origins: [ALLOWED, 'http://localhost:3000'] } },
    });
  });
  afterAll(() => app.stop());

  it.each(PATHS)('%s %s is readable for a listed origin', async (method, path, body) => {
    const answer = await app.call(method, path, body, { origin: ALLOWED });
    expect([answer.status, corsHeaders(answer)]).toEqual([
      200,
      {
        'access-control-allow-origin': ALLOWED,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': EXPOSED,
        vary: 'Origin',
      },
    ]);
  });

  it.each(PATHS)('%s %s has no CORS headers for another origin', async (method, path, body) => {
    const answer = await app.call(method, path, body, { origin: OTHER });
    expect([answer.status, corsHeaders(answer)]).toEqual([200, { vary: 'Origin' }]);
  });

  it('answers to requests without an Origin have Vary, so that caches separate them', async () => {
    expect(corsHeaders(await app.call('GET', '/v1/models'))).toEqual({ vary: 'Origin' });
  });

  it('Vary of the GraphiQL page has Origin and the values of the page', async () => {
    const page = await app.call('GET', '/graphql', undefined, { origin: ALLOWED, accept: 'text/html' });
    expect([page.status, page.headers.get('vary')]).toEqual([200, 'Origin, accept, accept-encoding']);
  });

  it('errors are readable, too', async () => {
    const answer = await fetch(`${app.url}/v1/models`, { headers: { origin: ALLOWED } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, ALLOWED]);
    const unknown = await fetch(`${app.url}/nowhere`, { headers: { origin: ALLOWED } });
    expect([unknown.status, unknown.headers.get('access-control-allow-origin')]).toEqual([404, ALLOWED]);
  });

  it.each([...PATHS.map(([, path]) => path), '/graphql/stream', '/nowhere'])(
    'a preflight for %s is 200 for a listed origin, without a key',
    async (path) => {
      const preflightHeaders = { 'access-control-request-headers': 'authorization, content-type, x-litellm-tags' };
      const answer = await preflight(app, path, 'http://localhost:3000', preflightHeaders);
      expect([answer.status, await answer.text(), corsHeaders(answer)]).toEqual([
        200,
        'OK',
        {
          'access-control-allow-origin': 'http://localhost:3000',
          'access-control-allow-credentials': 'true',
          'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
          'access-control-allow-headers': 'authorization, content-type, x-litellm-tags',
          'access-control-max-age': '600',
          vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
        },
      ]);
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    },
  );

  it.each([OTHER, 'null', `${ALLOWED}.evil.example`, 'https://APP.example'])(
    'a preflight from %s is 400',
    async (origin) => {
      const answer = await preflight(app, '/v1/chat/completions', origin);
      expect([answer.status, await answer.text(), corsHeaders(answer)]).toEqual([
        400,
        'Disallowed CORS origin',
        { vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers' },
      ]);
    },
  );

  it('OPTIONS that is not a preflight is 405', async () => {
    const answer = await fetch(`${app.url}/v1/models`, { method: 'OPTIONS', headers: { origin: ALLOWED } });
    expect([answer.status, answer.headers.get('allow'), await answer.json()]).toEqual([
      405,
      'GET',
      { detail: 'Method Not Allowed' },
    ]);
  });

  it('preflights and calls may alternate', async () => {
    for (let nth = 0; nth < 3; nth += 1) {
      expect((await preflight(app, '/v1/chat/completions', ALLOWED)).status).toBe(200);
      const answer = await app.call('POST', '/v1/chat/completions', CHAT, { origin: ALLOWED });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, ALLOWED]);
      expect((await app.call('POST', '/v1/chat/completions', CHAT)).status).toBe(200);
    }
  });

  it('a flood of preflights from many origins adds no metrics of their paths', async () => {
    const statuses: number[] = [];
    const preflightHeaders = { 'access-control-request-headers': 'x-a, '.repeat(1_000) };
    const flood = async (nth: number): Promise<void> => {
      for (let index = 0; index < 50; index += 1) {
        const origin = index % 2 === 0 ? ALLOWED : `https://${nth}-${index}.example`;
        const answer = await preflight(app, `/unknown/${nth}/${index}`, origin, preflightHeaders);
        statuses.push(answer.status);
        await answer.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: 40 }, (_, nth) => flood(nth)));
    expect(statuses).toHaveLength(2_000);
    expect(new Set(statuses)).toEqual(new Set([200, 400]));
    const metrics = await (await app.call('GET', '/metrics')).text();
    expect(metrics).not.toContain('/unknown/');
    expect((await app.call('POST', '/v1/chat/completions', CHAT, { origin: ALLOWED })).status).toBe(200);
  });

  it('invalid header names are not allowed', async () => {
    const answer = await preflight(app, '/v1/models', ALLOWED, { 'access-control-request-headers': 'a(b)' });
    expect([answer.status, answer.headers.get('access-control-allow-headers')]).toEqual([200, null]);
  });
});

describe('CORS with the origin *', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ env: { LENSGATE_CORS_ORIGINS: '*' } });
  });
  afterAll(() => app.stop());

  it.each(PATHS)('%s %s is readable for every origin, without credentials', async (method, path, body) => {
    const answer = await app.call(method, path, body, { origin: OTHER });
    expect([answer.status, corsHeaders(answer)]).toEqual([
      200,
      { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED },
    ]);
  });

  it('a preflight is 200 for every origin', async () => {
    const answer = await preflight(app, '/v1/chat/completions', 'null');
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('CORS without the setting', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it.each(PATHS)('%s %s has no CORS headers', async (method, path, body) => {
    const answer = await app.call(method, path, body, { origin: ALLOWED });
    expect([answer.status, corsHeaders(answer)]).toEqual([200, {}]);
  });

  it('a preflight is 405', async () => {
    const answer = await preflight(app, '/v1/chat/completions', ALLOWED);
    expect([answer.status, answer.headers.get('allow'), await answer.json(), corsHeaders(answer)]).toEqual([
      405,
      'POST',
      { detail: 'Method Not Allowed' },
      {},
    ]);
  });
});
