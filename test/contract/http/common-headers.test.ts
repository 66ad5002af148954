import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;
const CHAT = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hi' }] });

const REQUESTS = [
  ['a REST call', 'GET', '/v1/models', undefined, 200],
  ['a call on the fast path', 'POST', '/v1/chat/completions', CHAT, 200],
  ['a GraphQL query', 'POST', '/graphql', '{"query":"{__typename}"}', 200],
  ['a refused call on the fast path', 'POST', '/v1/chat/completions', '{}', 400],
  ['an unknown path', 'GET', '/nowhere', undefined, 404],
  ['a method that is not allowed', 'DELETE', '/v1/models', undefined, 405],
  ['a page', 'GET', '/docs', undefined, 200],
] as const;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

describe.each(REQUESTS)('an answer to %s', (_name, method, path, body, status) => {
  it('has the request id of the client', async () => {
    const answer = await app.call(method, path, body, { 'x-request-id': 'client-42/a:b' });
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([status, 'client-42/a:b']);
  });

  it.each(['x'.repeat(201), 'two words', 'Zoë'])(
    'has a new request id instead of an invalid one: %s',
    async (requestId) => {
      const answer = await app.call(method, path, body, { 'x-request-id': requestId });
      expect([answer.status, answer.headers.get('x-request-id')]).toEqual([status, expect.stringMatching(UUID)]);
    },
  );

  it('has security headers', async () => {
    const { headers } = await app.call(method, path, body);
    expect([
      headers.get('x-content-type-options'),
      headers.get('x-frame-options'),
      headers.get('referrer-policy'),
    ]).toEqual(['nosniff', 'DENY', 'no-referrer']);
  });
});

it('two requests have different generated ids', async () => {
  const answers = [await app.call('GET', '/health/liveness'), await app.call('GET', '/health/liveness')];
  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  expect(new Set(ids).size).toBe(2);
});

it('a refused WebSocket has the request id of the client', async () => {
  const request = httpRequest(`${app.url}/v1/realtime?model=demo`, {
    headers: { connection: 'Upgrade', upgrade: 'websocket', 'x-request-id': 'socket-1' },
  }).end();
  const [answer] = await once(request, 'response');
  expect([answer.statusCode, answer.headers['x-request-id']]).toEqual([401, 'socket-1']);
  answer.resume();
});
