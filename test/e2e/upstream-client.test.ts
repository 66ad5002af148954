import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const WHOLE = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] };
const CHUNK = 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n';

/** The answer with the requested model name. */
const answerFor = (model: string): string => JSON.stringify({ ...WHOLE, model });

let folder: string;
let plain: Server;
let secure: Server;
let proxy: ForwardProxy;
let server: ServerProcess | null;
/** Headers of the requests to the upstreams, in order. */
let received: IncomingHttpHeaders[];

/** Answers with JSON or with a stream. */
const listener: RequestListener = (request, response) => {
  received.push(request.headers);
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    if (!body.includes('"stream":true'))
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(WHOLE));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${CHUNK}data: [DONE]\n\n`);
  });
};

const portOf = (upstream: Server): number => (upstream.address() as AddressInfo).port;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-upstreams-'));
  received = [];
  server = null;
  const { key, cert } = selfSigned();
  writeFileSync(join(folder, 'ca.pem'), cert);
  plain = createServer(listener).listen(0, '127.0.0.1');
  secure = createSecureServer({ key, cert }, listener).listen(0, '127.0.0.1');
  proxy = await startForwardProxy();
  for (const upstream of [plain, secure]) if (!upstream.listening) await once(upstream, 'listening');
});

afterEach(async () => {
  await server?.end('SIGTERM');
  await proxy.stop();
  for (const upstream of [plain, secure]) {
    upstream.close();
    upstream.closeAllConnections();
  }
  rmSync(folder, { recursive: true, force: true });
});

async function start(env: Record<string, string>): Promise<void> {
  const model = (name: string, base: string) => ({
    model_name: name,
    litellm_params: { model: 'openai/m', api_base: base, api_key: 'sk-upstream-credential' },
  });
  const config = {
    model_list: [
      model('direct', `http://127.0.0.1:${portOf(plain)}/v1`),
      model('plain', `http://localhost:${portOf(plain)}/v1`),
      model('secure', `https://localhost:${portOf(secure)}/v1`),
    ],
  };
  const file = join(folder, 'config.yaml');
  writeFileSync(file, stringify(config));
  server = await spawnServer(join(folder, 'data'), { args: ['--config', file], env });
}

async function ask(model: string, more: object = {}): Promise<{ status: number; text: string }> {
  const key = readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim();
  const response = await fetch(`${server?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }], timeout: 10, ...more }),
  });
  return { status: response.status, text: await response.text() };
}

it.each(['native', 'undici'])('the %s client trusts the authorities of NODE_EXTRA_CA_CERTS', async (client) => {
  const env = { LENSGATE_HTTP_CLIENT: client, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
  await start(env);
  expect(await ask('secure')).toEqual({ status: 200, text: answerFor('secure') });
  const stream = await ask('secure', { stream: true });
  expect([stream.status, stream.text]).toEqual([200, expect.stringContaining('"content":"Hi"')]);
});

it.each(['native', 'undici'])('the %s client refuses a certificate without a trusted authority', async (client) => {
  await start({ LENSGATE_HTTP_CLIENT: client });
  const { status, text } = await ask('secure');
  expect([status, text]).toEqual([
    500,
    expect.stringContaining('The upstream could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT).'),
  ]);
  expect(received).toEqual([]);
});

it('calls use the proxy of the environment, except calls to hosts of NO_PROXY', async () => {
  await start({
    HTTP_PROXY: `http://user:secret@127.0.0.1:${proxy.port}`,
    https_proxy: `http://user:secret@127.0.0.1:${proxy.port}`,
    NO_PROXY: 'example.com,127.0.0.1',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  });
  expect(await ask('direct')).toEqual({ status: 200, text: answerFor('direct') });
  expect(proxy.requestLines).toEqual([]);
  expect(await ask('plain')).toEqual({ status: 200, text: answerFor('plain') });
  expect(proxy.requestLines).toEqual([`POST http://localhost:${portOf(plain)}/v1/chat/completions`]);
  expect(await ask('secure')).toEqual({ status: 200, text: answerFor('secure') });
  expect((await ask('secure', { stream: true })).text).toContain('"content":"Hi"');
  expect(proxy.requestLines.slice(1)).toEqual([`CONNECT localhost:${portOf(secure)}`]);
  const basic = `Basic ${Buffer.from('user:secret').toString('base64')}`;
  expect(proxy.authorizations).toEqual([basic, basic]);
  expect(received.map((headers) => [headers.host, headers['proxy-authorization']])).toEqual([
    [`127.0.0.1:${portOf(plain)}`, undefined],
    [`localhost:${portOf(plain)}`, undefined],
    [`localhost:${portOf(secure)}`, undefined],
    [`localhost:${portOf(secure)}`, undefined],
  ]);
  const metrics = await (await fetch(`${server?.url}/metrics`)).text();
  expect(metrics).toContain('lensgate_upstream_connections{state="active"} 0');
  expect(metrics).toMatch(/lensgate_upstream_connections\{state="idle"\} [1-3]\n/);
});

it.each([403, 407])(
  'a proxy that refuses with %d fails the call, and no answer or log holds its credential',
  async (status) => {
    // Without HTTPS_PROXY, calls to https: addresses use HTTP_PROXY, too.
    await start({
      HTTP_PROXY: `http://user:secret@127.0.0.1:${proxy.port}`,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    });
    proxy.refuse(status);
    const [http, https] = [await ask('plain'), await ask('secure')];
    // Over plain HTTP, a 403 of the proxy is passed on like an answer of the upstream.
    expect([http.status, https.status]).toEqual([status === 403 ? 403 : 500, 500]);
    expect(https.text).toContain('The upstream could not be reached');
    // `dXNlcjpz` is `user:s` in Base64.
    expect(http.text + https.text + server?.errors()).not.toMatch(/secret|dXNlcjpz/);
    expect(received).toEqual([]);
  },
);

it('the native client, chosen by name, ignores the proxy', async () => {
  await start({ LENSGATE_HTTP_CLIENT: 'native', HTTP_PROXY: `http://127.0.0.1:${proxy.port}` });
  expect((await ask('plain')).status).toBe(200);
  expect(proxy.requestLines).toEqual([]);
});
