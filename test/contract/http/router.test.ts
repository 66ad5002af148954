import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { json, type RouteRow } from '../../../rest-shims/helpers/http/route.ts';
import { openRowServer } from '../../support/rest-server.ts';

const facts = { surface: 'proxy', credential: 'none', statuses: [200], bodyLimit: 64 } as const;

const rows: readonly RouteRow[] = [
  {
    ...facts,
    name: 'echo.body',
    method: 'POST',
    paths: ['/v1/echo', '/echo'],
    handle: ({ body, search }) => json({ body: Buffer.from(body).toString(), search }),
  },
  {
    ...facts,
    name: 'things.any',
    method: 'GET',
    paths: ['/things/{*rest}'],
    handle: ({ params }) => json(params['rest'] ?? ''),
  },
  {
    ...facts,
    name: 'mixed.any',
    method: 'GET',
    paths: ['/mixed/*rest'],
    handle: ({ params }) => json(`wildcard ${params['rest']}`),
  },
  {
    ...facts,
    name: 'mixed.one',
    method: 'GET',
    paths: ['/mixed/:id'],
    handle: ({ params }) => json(`parameter ${params['id']}`),
  },
  { ...facts, name: 'mixed.fixed', method: 'GET', paths: ['/mixed/fixed'], handle: () => json('fixed') },
  { ...facts, name: 'both.list', method: 'GET', paths: ['/both'], handle: () => json('both') },
  { ...facts, name: 'both.any', method: 'POST', paths: ['/both/{*rest}'], handle: () => json('rest') },
  { ...facts, name: 'named.one', method: 'GET', paths: ['/:name/named'], handle: () => json('named') },
  { ...facts, name: 'mixed.delete', method: 'DELETE', paths: ['/mixed/:id'], handle: () => json('deleted') },
  { ...facts, name: 'mixed.create', method: 'POST', paths: ['/mixed/:id'], handle: () => json('created') },
];

let server: Awaited<ReturnType<typeof openRowServer>>;
beforeAll(async () => {
  server = await openRowServer({
    rows,
    bodyLimits: { setting: 0, otlp: 0 },
    identify: () => {
      throw new TypeError('No row needs a key.');
    },
    scopeFor: (caller) => ({ caller }) as Scope,
    onFailure: () => {},
  });
});
afterAll(() => server.close());

async function ask(path: string, init: RequestInit = {}) {
  const answer = await fetch(`${server.url}${path}`, init);
  const { status, headers } = answer;
  return { status, headers, body: await answer.json() };
}

describe('a request that matches no row', () => {
  it.each(['/nowhere', '/V1/echo', '/v1/echo//', '/v1//echo', '//v1/echo/', '/mixed', '/mixed/', '/v1%2Fecho'])(
    'is 404 for %s',
    async (path) => {
      const { status, body, headers } = await ask(path);
      expect([status, body, headers.get('allow')]).toEqual([404, { detail: 'Not Found' }, null]);
      expect(headers.get('content-type')).toBe('application/json');
    },
  );

  it.each([
    ['POST', '/v1/echo/', '/v1/echo'],
    ['POST', '/v1/echo/?a=%20b&c', '/v1/echo?a=%20b&c'],
    ['GET', '/v1/echo/', '/v1/echo'],
    // A wildcard of another method has the path with the slash.
    ['GET', '/both/', '/both'],
    ['DELETE', '/mixed/a%2Fb/', '/mixed/a%2Fb'],
  ])('is redirected to the path without its last slash: %s %s', async (method, path, target) => {
    const answer = await fetch(`${server.url}${path}`, { method, redirect: 'manual' });
    const location = answer.headers.get('location') ?? '';
    // Relative, so that it stays below a path of a reverse proxy.
    expect([answer.status, location.slice(0, 3), await answer.text()]).toEqual([307, '../', '']);
    expect(new URL(location, `${server.url}${path}`).href).toBe(`${server.url}${target}`);
    expect(new URL(location, `https://host/below${path}`).href).toBe(`https://host/below${target}`);
  });

  it('is not redirected to another host: a path that begins with a slash and a backslash', async () => {
    const request = httpRequest(`${server.url}/`, { path: '/\\host/named/' });
    request.end();
    const [answer] = await once(request, 'response');
    answer.resume();
    expect([answer.statusCode, answer.headers.location]).toEqual([404, undefined]);
  });

  it('is repeated by clients at the path without its last slash, with its body', async () => {
    const { status, body } = await ask('/v1/echo/?a=b', { method: 'POST', body: 'hello' });
    expect([status, body]).toEqual([200, { body: 'hello', search: 'a=b' }]);
  });

  it.each(['GET', 'PUT', 'OPTIONS', 'DELETE', 'PROPFIND'])(
    'is 405 with Allow for %s on a path that takes POST',
    async (method) => {
      const { status, body, headers } = await ask('/v1/echo', { method });
      expect([status, body, headers.get('allow')]).toEqual([405, { detail: 'Method Not Allowed' }, 'POST']);
    },
  );

  it('is 405 for HEAD on a path with GET', async () => {
    const answer = await fetch(`${server.url}/things/a`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([405, 'GET', '']);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  it('lists every method of its path in Allow, in a fixed order', async () => {
    const { status, headers } = await ask('/mixed/a', { method: 'PUT' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
  });
});

describe('a request', () => {
  it('reaches its row on every path, with body and query', async () => {
    for (const path of ['/v1/echo', '/echo']) {
      const { status, body } = await ask(`${path}?a=%20b`, { method: 'POST', body: 'hello' });
      expect([status, body]).toEqual([200, { body: 'hello', search: 'a=%20b' }]);
    }
  });

  it.each([
    ['a/b', 'a/b'],
    ['a%2Fb', 'a/b'],
    ['a%252Fb', 'a%2Fb'],
    ['%C3%A9', 'é'],
    ['', ''],
    ['/a', '/a'],
    ['%FF', '%FF'],
    ['a%zz', 'a%zz'],
  ])('matches a wildcard: /things/%s', async (rest, value) => {
    const { status, body } = await ask(`/things/${rest}`);
    expect([status, body]).toEqual([200, value]);
  });

  it.each([
    ['/mixed/a', 'parameter a'],
    ['/mixed/a%2Fb', 'parameter a/b'],
    ['/mixed/%FF', 'parameter %FF'],
    ['/mixed/fixed', 'fixed'],
    ['/mixed/a/b', 'wildcard a/b'],
    ['/mixed/fixed/b', 'wildcard fixed/b'],
  ])('matches the most specific path, although less specific rows come first: %s', async (path, value) => {
    const { status, body } = await ask(path);
    expect([status, body]).toEqual([200, value]);
  });

  it('for an unknown path with an invalid escape is 404', async () => {
    expect((await ask('/nowhere/%FF')).status).toBe(404);
  });

  it('to a GET row is answered even if its body exceeds the limit', async () => {
    const request = httpRequest(`${server.url}/things/a`, { method: 'GET', headers: { 'content-length': '500' } });
    request.end('x'.repeat(500));
    const [answer] = await once(request, 'response');
    expect(answer.statusCode).toBe(200);
    answer.resume();
  });
});
