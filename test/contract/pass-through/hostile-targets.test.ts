import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { answerOf, echoRequests, newKey, sendAs } from './targets.ts';

let app: TestApp;
let target: FaultServer;
let elsewhere: FaultServer;
let key: string;

beforeAll(async () => {
  target = await startFaultServer();
  elsewhere = await startFaultServer();
  const headers = { Authorization: 'Bearer target-secret' };
  app = await startApp({
    config: {
      general_settings: {
        pass_through_endpoints: [
          { path: '/target', target: `${target.url}/t`, include_subpath: true, headers },
          { path: '/short-timeout', target: `${target.url}/t`, timeout: 0.2 },
        ],
      },
    },
  });
  key = await newKey(app);
});

afterAll(async () => {
  await app.stop();
  await target.stop();
  await elsewhere.stop();
});

const failure = (message: unknown, type: string, code: string) => ({ error: { message, type, param: null, code } });

describe('a target that redirects', () => {
  it.each(['http://other.example/', '//other.example/', 'another port'])(
    'to another origin (%s) is not followed and does not get the credential',
    async (to) => {
      const location = to === 'another port' ? `${elsewhere.url}/stolen` : to;
      target.answer((response) => response.writeHead(302, { location }).end());
      const response = await sendAs(app, key, { path: '/target' });
      expect([response.status, response.headers.get('location')]).toEqual([302, location]);
      expect(elsewhere.received).toEqual([]);
    },
  );

  it('within its origin is followed for GET, without the query of the caller', async () => {
    const count = target.received.length;
    target.answer((response, _socket, { path }) => {
      if (path === '/after') response.end('there');
      else response.writeHead(307, { location: '/after' }).end();
    });
    const response = await sendAs(app, key, { path: '/target?a=1' });
    expect([response.status, await response.text()]).toEqual([200, 'there']);
    const paths = target.received.slice(count).map(({ path, headers }) => [path, headers.authorization]);
    expect(paths).toEqual([
      ['/t?a=1', 'Bearer target-secret'],
      ['/after', 'Bearer target-secret'],
    ]);
    expect((await sendAs(app, key, { method: 'POST', path: '/target' })).status).toBe(307);
  });

  it('endlessly is followed three times', async () => {
    const count = target.received.length;
    target.answer((response) => response.writeHead(302, { location: '/t' }).end());
    expect((await sendAs(app, key, { path: '/target' })).status).toBe(302);
    // The first request and three redirects.
    expect(target.received.length - count).toBe(4);
  });
});

describe('a target that', () => {
  it('announces an answer above the limit makes the call fail', async () => {
    target.answer((response) => {
      response.writeHead(200, { 'content-length': String(10 * 1024 ** 3) });
      response.write('x');
    });
    expect(await answerOf(await sendAs(app, key, { path: '/target' }))).toEqual([
      500,
      failure('The answer has more than 1073741824 bytes.', 'internal_server_error', '500'),
    ]);
    await target.nextDisconnect();
  });

  it('never ends its answer is disconnected after six times its timeout, and the call is recorded as failed', async () => {
    target.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const drip = setInterval(() => response.write('x'), 20);
      response.once('close', () => clearInterval(drip));
    });
    let { traceId, headers } = newTrace();
    let response = await sendAs(app, key, { path: '/short-timeout', headers });
    // On a busy machine, the headers of the answer may arrive after the timeout. The call is then repeated.
    while (response.status === 408) {
      await target.nextDisconnect();
      ({ traceId, headers } = newTrace());
      response = await sendAs(app, key, { path: '/short-timeout', headers });
    }
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
    await target.nextDisconnect();
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
    ]);
  });

  it('sends a compression bomb has it relayed without inflation', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    target.answer((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    const response = await fetch(`${app.url}/target`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    // Only the client of this test inflates the answer.
    expect((await response.arrayBuffer()).byteLength).toBe(64 * 1024 * 1024);
  });

  it.each(['Zoë', '日本', 'Ċ\u0085Ā'])('sends a header in UTF-8 (%j) has its bytes relayed unchanged', async (text) => {
    // In a header value, each character is one byte.
    const value = Buffer.from(text).toString('latin1');
    target.answer((response) => response.writeHead(200, { 'x-name': value, 'content-type': `text/${value}` }).end('a'));
    for (const method of ['GET', 'POST']) {
      const response = await sendAs(app, key, { method, path: '/target' });
      const names = ['x-name', 'content-type'].map((name) => response.headers.get(name));
      expect([response.status, ...names, await response.text()]).toEqual([200, value, `text/${value}`, 'a']);
    }
  });

  it('repeats its credential in a header has the credential replaced by `<secret>`', async () => {
    target.answer((response, _socket, { headers }) =>
      response.writeHead(200, { 'x-seen': headers.authorization ?? '' }).end('ok'),
    );
    const response = await sendAs(app, key, { path: '/target' });
    expect(response.headers.get('x-seen')).toBe('<secret>');
  });

  it('closes the connection before its answer makes the call fail', async () => {
    target.answer((_response, socket) => socket.destroy());
    expect((await sendAs(app, key, { path: '/target' })).status).toBe(500);
  });

  it('has begun its answer is disconnected when the caller disconnects', async () => {
    target.answer((response) => {
      response.writeHead(200);
      response.write('begun');
    });
    const disconnect = new AbortController();
    const response = await fetch(`${app.url}/target`, {
      headers: { authorization: `Bearer ${key}` },
      signal: disconnect.signal,
    });
    expect(response.status).toBe(200);
    disconnect.abort();
    await target.nextDisconnect();
    echoRequests(target);
    expect((await sendAs(app, key, { path: '/target' })).status).toBe(200);
  });
});
