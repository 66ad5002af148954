import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

/** The answer with its bytes on the wire. `fetch` would decompress them. */
async function get(path: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await request(`${app.url}${path}`, { headers });
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}

describe('dashboard.page', () => {
  it('200: a page that loads and links only paths of this server, with its security policy', async () => {
    const { status, headers, bytes } = await get('/ui?login=success');
    const page = bytes.toString('utf8');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; " +
        "base-uri 'none'; frame-ancestors 'none'",
    );
    expect(
      [...page.matchAll(/(?:src|href)="([^"]+)"/g)]
        .map(([, target]) => target)
        .filter((target) => !target?.startsWith('data:')),
    ).toEqual(['ui/dashboard.css', 'ui/dashboard.js', 'fallback/login', 'docs']);
  });
});

describe.each([
  {
    row: 'dashboard.script',
    path: '/ui/dashboard.js',
    type: 'text/javascript; charset=utf-8',
    contains: 'traceUpdates',
  },
  { row: 'dashboard.style', path: '/ui/dashboard.css', type: 'text/css; charset=utf-8', contains: '.badge' },
])('$row', ({ row, path, type, contains }) => {
  it(`${row} 200: every encoding has equal content`, async () => {
    const plain = await get(path);
    const gzip = await get(path, { 'accept-encoding': 'gzip' });
    const brotli = await get(path, { 'accept-encoding': 'gzip, br' });
    expect([plain.status, plain.headers['content-type'], plain.headers['content-encoding']]).toEqual([
      200,
      type,
      undefined,
    ]);
    expect([gzip.headers['content-encoding'], brotli.headers['content-encoding']]).toEqual(['gzip', 'br']);
    expect(plain.bytes.toString('utf8')).toContain(contains);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
    expect(plain.headers['vary']).toContain('accept-encoding');
  });

  it(`${row} 304 for the current ETag, 200 for another`, async () => {
    const { headers } = await get(path);
    const etag = String(headers['etag']);
    const known = await get(path, { 'if-none-match': etag });
    expect([known.status, known.bytes.length]).toEqual([304, 0]);
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });
});
