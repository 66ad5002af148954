import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SMALL_BODY_TIMEOUT_MS } from '../../../rest-shims/helpers/http/body.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  // The first request builds the graph. The requests of the tests do not wait for this.
  await (await app.call('POST', '/graphql', { query: '{ __typename }' })).text();
});
afterAll(() => app.stop());
afterEach(() => vi.useRealTimers());

/** All bytes until the server closes the connection. */
async function allOf(socket: Socket): Promise<string> {
  let receivedText = '';
  for await (const chunk of socket) receivedText += (chunk as Buffer).toString('latin1');
  return receivedText;
}

const MESSAGE = 'The body took too long to arrive.';

describe('a request whose row has an upload deadline is answered 503 after it, and its connection is closed', () => {
  it.each([
    ['/graphql', { errors: [{ message: MESSAGE, extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 2 } }] }],
    ['/graphql/stream', { errors: [{ message: MESSAGE, extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 2 } }] }],
    ['/billing/webhook', { detail: MESSAGE }],
    // On the fast path. Exporters repeat an export after 503.
    ['/v1/traces', { message: MESSAGE }],
  ])('at %s', async (path, body) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    const received = allOf(socket);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.adminKey}\r\n` +
        'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"que',
    );
    let isClosed = false;
    void received.then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      await turn();
      vi.advanceTimersByTime(SMALL_BODY_TIMEOUT_MS);
    }
    const [head = '', answerBody = ''] = (await received).split('\r\n\r\n');
    expect([head.split('\r\n')[0], /\r\nConnection: close\b/.test(head)]).toEqual([
      'HTTP/1.1 503 Service Unavailable',
      true,
    ]);
    // A chunked answer has one chunk: remove its size and the end of the body.
    expect(JSON.parse(answerBody.replace(/^[\da-f]+\r\n|\r\n0$/g, ''))).toEqual(body);
  });
});
