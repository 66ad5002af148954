import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newKey, sendAs } from './targets.ts';

const CREDENTIAL = 'target/se"cret\\1';

let app: TestApp;
let target: FaultServer;
let key: string;

beforeAll(async () => {
  target = await startFaultServer();
  app = await startApp({
    config: {
      general_settings: {
        pass_through_endpoints: [
          { path: '/target', target: `${target.url}/t`, headers: { Authorization: `Bearer ${CREDENTIAL}` } },
        ],
      },
      model_list: [
        { model_name: 'm', litellm_params: { model: 'openai/up', api_base: `${target.url}/v1`, api_key: CREDENTIAL } },
      ],
    },
  });
  key = await newKey(app);
});
afterAll(async () => {
  await app.stop();
  await target.stop();
});

const refusing = (body: Buffer | string, headers: Record<string, string> = {}): void => {
  target.answer((response) => {
    response.writeHead(401, { 'content-type': 'application/json', ...headers });
    response.end(body);
  });
};
const ERROR = JSON.stringify({ error: { message: `wrong key ${CREDENTIAL}` } });
const COMPRESSED: readonly (readonly [string, Buffer])[] = [
  ['gzip', gzipSync(ERROR)],
  ['X-GZIP', gzipSync(ERROR)],
  ['deflate', deflateSync(ERROR)],
  ['deflate', deflateRawSync(ERROR)],
  ['br', brotliCompressSync(ERROR)],
  ['gzip, br', brotliCompressSync(gzipSync(ERROR))],
];
const askTarget = async () => {
  const response = await sendAs(app, key, { path: '/target' });
  return { response, text: await response.text() };
};
const askModel = async () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
  const response = await app.call('POST', '/v1/chat/completions', body);
  return { status: response.status, text: await response.text() };
};
const LEFT_OUT =
  'The upstream answered with status 401. Its compressed body is left out: it cannot be checked for credentials.';

describe('a compressed error of an upstream', () => {
  it.each(COMPRESSED)('is decompressed and has no credential: %s', async (encoding, body) => {
    refusing(body, { 'content-encoding': encoding });
    const { response, text } = await askTarget();
    expect([response.status, response.headers.get('content-encoding'), text]).toEqual([
      401,
      null,
      '{"error":{"message":"wrong key <secret>"}}',
    ]);
    const asked = await askModel();
    expect([asked.status, asked.text]).toEqual([401, expect.stringContaining('wrong key <secret>') as string]);
  });

  it.each([
    ['an unknown encoding', 'zstd', zstdCompressSync(ERROR)],
    ['invalid data', 'gzip', Buffer.from(ERROR)],
    ['truncated data', 'gzip', gzipSync(ERROR).subarray(0, 30)],
    ['more than 1 MiB of text', 'gzip', gzipSync(`${ERROR}${' '.repeat(2 ** 20)}`)],
    ['more than three encodings', 'gzip, gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(gzipSync(ERROR))))],
  ])('is left out where it cannot be read: %s', async (_case, encoding, body) => {
    refusing(body, { 'content-encoding': encoding });
    const { response, text } = await askTarget();
    expect([response.status, response.headers.get('content-type'), JSON.parse(text)]).toEqual([
      401,
      'application/json',
      { error: { message: LEFT_OUT } },
    ]);
    const asked = await askModel();
    expect([asked.status, asked.text]).toEqual([
      401,
      expect.stringContaining('The upstream gave no reason.') as string,
    ]);
  });
});

describe('an error of an upstream that escapes the credential', () => {
  const escaped = CREDENTIAL.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`);
  const FORMS: readonly (readonly [string, string])[] = [
    ['as in JSON', escaped],
    ['with escaped slashes', escaped.replaceAll('/', String.raw`\/`)],
    [
      'with numbers of characters',
      escaped.replaceAll('/', String.raw`\u002F`).replaceAll(String.raw`\"`, String.raw`\u0022`),
    ],
  ];

  it.each(FORMS)('has no credential: %s', async (_form, text) => {
    refusing(`{"error":{"message":"wrong key ${text}"}}`);
    expect((await askTarget()).text).toBe('{"error":{"message":"wrong key <secret>"}}');
    expect((await askModel()).text).toContain('wrong key <secret>');
    // A body without a known member for its message is quoted as it is.
    refusing(`{"detail":[{"input":"wrong key ${text}"}]}`);
    expect((await askModel()).text).toContain('wrong key <secret>');
    refusing(`{"unknown":"wrong key ${text}"}`);
    expect((await askModel()).text).toContain('wrong key <secret>');
  });

  it('has no part of the credential where the quote of the body ends', async () => {
    refusing(`${'x'.repeat(292)}${CREDENTIAL}`);
    const { text } = await askModel();
    expect(text).toContain(`${'x'.repeat(292)}<secret>`);
    expect(text).not.toContain('target');
  });
});
