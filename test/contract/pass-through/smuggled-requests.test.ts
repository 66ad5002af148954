import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newKey, sendAs } from './targets.ts';

let app: TestApp;
let target: FaultServer;
let key: string;

beforeAll(async () => {
  target = await startFaultServer();
  target.answer((response) => response.end('ok'));
  app = await startApp({
    config: {
      general_settings: {
        pass_through_endpoints: [
          { path: '/target', target: `${target.url}/t` },
          { path: '/forwards', target: `${target.url}/t`, forward_headers: true },
        ],
      },
    },
  });
  key = await newKey(app);
});
afterAll(async () => {
  await app.stop();
  await target.stop();
});

/** Sends these lines on a new connection. Returns all bytes that the server sends until it closes the connection. */
const answerTo = (lines: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.url);
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(lines.join('\r\n')));
    socket.setEncoding('latin1');
    socket.on('data', (more: string) => {
      text += more;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });

const SMUGGLED_REQUEST = 'POST /t HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
const requestLines = (...more: readonly string[]): readonly string[] => [
  'POST /target HTTP/1.1',
  'Host: gateway.example',
  `Authorization: Bearer ${key}`,
  'Content-Type: application/json',
  'Connection: close',
  ...more,
];

describe('a request with an ambiguous end', () => {
  it.each([
    ['two lengths', ['Content-Length: 2', `Content-Length: ${2 + SMUGGLED_REQUEST.length}`]],
    ['a length and chunks', ['Content-Length: 2', 'Transfer-Encoding: chunked']],
    ['a list of lengths', ['Content-Length: 2, 40']],
    ['a length with a sign', ['Content-Length: +2']],
    ['an unknown coding', ['Transfer-Encoding: identity, chunked, x']],
    ['a folded length', ['Content-Length:\r\n 2']],
    ['a space before the colon', ['Content-Length : 2']],
  ])('400: %s, and no target is called', async (_fault, lines) => {
    const before = target.received.length;
    const answer = await answerTo([...requestLines(...lines), '', `{}${SMUGGLED_REQUEST}`]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(target.received.length).toBe(before);
  });
});

describe('a connection header with the prefix x-pass-', () => {
  const HOSTILE = {
    'transfer-encoding': 'chunked',
    'content-length': '40',
    'content-encoding': 'gzip',
    connection: 'x-fixed',
    'keep-alive': 'timeout=1',
    upgrade: 'websocket',
    te: 'trailers',
    trailer: 'x',
    expect: '100-continue',
    'proxy-authorization': 'Basic x',
    cookie: 'a=b',
    host: 'elsewhere.example',
  };

  it.each(['/target', '/forwards'])('does not change the connection to the target (%s)', async (path) => {
    const passed = Object.fromEntries(Object.entries(HOSTILE).map(([name, value]) => [`x-pass-${name}`, value]));
    const response = await sendAs(app, key, {
      method: 'POST',
      path,
      body: '{"a":1}',
      headers: { ...passed, 'x-pass-ok': '1' },
    });
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    const { headers = {}, body } = target.received.at(-1) ?? {};
    expect(body).toBe('{"a":1}');
    expect({ host: headers.host, connection: headers.connection, length: headers['content-length'] }).toEqual({
      host: new URL(target.url).host,
      connection: 'keep-alive',
      length: '7',
    });
    expect(headers['ok']).toBe('1');
    const dropped = Object.keys(HOSTILE).filter((name) => !['host', 'connection', 'content-length'].includes(name));
    expect(dropped.filter((name) => headers[name] !== undefined)).toEqual([]);
  });
});

it.each(['/target', '/forwards'])(
  'a compressed body is forwarded unchanged, with its content coding (%s)',
  async (path) => {
    const body = gzipSync('plain text');
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' };
    const response = await sendAs(app, key, { method: 'POST', path, body, headers });
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    expect(target.received.at(-1)).toMatchObject({ headers, body: body.toString() });
  },
);
