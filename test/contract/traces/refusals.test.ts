import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_OTLP_LIMITS } from '../../../src/domain/traces/otlp-limits.ts';
import { encodeOtlpError } from '../../../src/wire/otlp/answer.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  statusAndBody,
  statusTypeAndBody,
  as,
  makeKey,
  otlpExport,
  otlpSpan,
  refFor,
  send,
  sendBytes,
  TRACE_ID,
  workedExample,
} from './trace-client.ts';

const MISSING = 'No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.';
const PROTOBUF = { 'content-type': 'application/x-protobuf' };

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await send(app, workedExample);
});
afterAll(() => app.stop());

const get = (path: string, headers?: Record<string, string>) =>
  statusAndBody(app.call('GET', path, undefined, headers));
const asProtobuf = (message: string): string => Buffer.from(encodeOtlpError(message).body).toString();

describe('traces.ingest 400', () => {
  it.each([
    ['broken JSON', '{', 'The export could not be decoded: it is not valid JSON.'],
    ['JSON that is not an object', '[]', 'The export could not be decoded: it is not a JSON object.'],
    [
      'an invalid span',
      otlpExport(otlpSpan('1', 0, 1), otlpSpan('0', 0, 1)),
      'Span 1 of the export is invalid: span_id must be 8 bytes, not all zero.',
    ],
  ])('%s', async (_what, body, message) => {
    expect(await statusAndBody(send(app, body))).toEqual([400, { message }]);
  });

  it.each([
    ['broken protobuf', PROTOBUF, 'The export could not be decoded: it ends in the middle of a field.'],
    [
      'an unsupported media type',
      { 'content-type': 'text/plain' },
      "Unsupported media type 'text/plain': send application/x-protobuf or application/json.",
    ],
    [
      'an unsupported encoding',
      { ...PROTOBUF, 'content-encoding': 'br' },
      "Unsupported content encoding 'br': send gzip or identity.",
    ],
    ['broken gzip', { ...PROTOBUF, 'content-encoding': 'gzip' }, 'The body is not valid gzip.'],
  ])('%s', async (_what, headers, message) => {
    // A protobuf field that announces five bytes and has none.
    expect(await statusTypeAndBody(sendBytes(app, Uint8Array.of(0x0a, 0x05), headers))).toEqual([
      400,
      'application/x-protobuf',
      asProtobuf(message),
    ]);
  });

  it('the whole export is refused if one span is invalid', async () => {
    const key = await makeKey(app);
    const traceId = '7'.repeat(32);
    const body = otlpExport(otlpSpan('1', 0, 1, {}, { traceId }), otlpSpan('0', 0, 1, {}, { traceId }));
    expect((await send(app, body, as(key))).status).toBe(400);
    expect(await get(`/v1/traces/${traceId}`, as(key))).toEqual([404, { detail: `Trace ${traceId} not found` }]);
  });

  it('gzip that ends too early', async () => {
    const body = gzipSync(JSON.stringify(workedExample));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect(await statusAndBody(sendBytes(app, body.subarray(0, -12), headers))).toEqual([
      400,
      { message: 'The body is not valid gzip.' },
    ]);
  });
});

describe('401', () => {
  it('traces.ingest 401: no key, with an OTLP body', async () => {
    const url = `${app.url}/v1/traces`;
    const json = fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect(await statusAndBody(json)).toEqual([401, { message: MISSING }]);
    expect(await statusTypeAndBody(fetch(url, { method: 'POST' }))).toEqual([
      401,
      'application/x-protobuf',
      asProtobuf(MISSING),
    ]);
  });

  it.each([
    ['traces.list 401: no key', '/v1/traces'],
    ['traces.agents 401: no key', '/v1/traces/agents'],
    ['traces.get 401: no key', `/v1/traces/${TRACE_ID}`],
    ['traces.span 401: no key', `/v1/traces/${TRACE_ID}/spans/${'a'.repeat(16)}`],
    ['traces.error 401: no key', `/v1/traces/${TRACE_ID}/spans/${'a'.repeat(16)}/error`],
  ])('%s', async (_what, path) => {
    expect(await statusAndBody(fetch(`${app.url}${path}`))).toEqual([
      401,
      { error: { message: `Authentication Error, ${MISSING}`, type: 'auth_error', param: 'None', code: '401' } },
    ]);
  });
});

describe('traces.ingest 403', () => {
  it('read-only administrators can read traces of others and cannot send traces', async () => {
    const viewer = await makeKey(app, { user_role: 'proxy_admin_viewer' });
    expect(await statusAndBody(send(app, workedExample, as(viewer)))).toEqual([
      403,
      { message: 'Read-only administrators cannot ingest traces.' },
    ]);
    const [status] = await get(`/v1/traces/${TRACE_ID}?trace_ref=${refFor(app.adminKey)}`, as(viewer));
    expect(status).toBe(200);
  });
});

describe('404', () => {
  const unknown = 'f'.repeat(32);
  it.each([
    ['traces.get 404: an unknown id', `/v1/traces/${unknown}`, `Trace ${unknown} not found`],
    ['traces.get 404: an invalid id', '/v1/traces/a%00b', 'Trace a\0b not found'],
    [
      'traces.get 404: an unknown ref',
      `/v1/traces/${TRACE_ID}?trace_ref=${'A'.repeat(64)}`,
      `Trace ${TRACE_ID} not found`,
    ],
    ['traces.get 404: an invalid ref', `/v1/traces/${TRACE_ID}?trace_ref=%00`, `Trace ${TRACE_ID} not found`],
    [
      'traces.span 404: an unknown trace',
      `/v1/traces/${unknown}/spans/${'a'.repeat(16)}`,
      `Span ${'a'.repeat(16)} not found`,
    ],
    [
      'traces.span 404: an unknown span',
      `/v1/traces/${TRACE_ID}/spans/${'f'.repeat(16)}`,
      `Span ${'f'.repeat(16)} not found`,
    ],
    ['traces.span 404: an invalid id', `/v1/traces/${TRACE_ID}/spans/x`, 'Span x not found'],
    [
      'traces.error 404: an unknown span',
      `/v1/traces/${TRACE_ID}/spans/${'f'.repeat(16)}/error`,
      'Span diagnostic not found or no longer available',
    ],
  ])('%s', async (_what, path, detail) => {
    expect(await get(path)).toEqual([404, { detail }]);
  });

  it('traces.get, traces.span, traces.error 404: traces of other owners', async () => {
    const team = await makeKey(app, { team_id: 'team-1' });
    const sameTeam = await makeKey(app, { team_id: 'team-1' });
    const keyWithoutTeam = await makeKey(app);
    const others = [await makeKey(app, { team_id: 'team-2' }), await makeKey(app)];
    const traceId = '5'.repeat(32);
    const otherTrace = '6'.repeat(32);
    await send(app, otlpExport(otlpSpan('1', 0, 1, {}, { traceId })), as(team));
    await send(app, otlpExport(otlpSpan('1', 0, 1, {}, { traceId: otherTrace })), as(keyWithoutTeam));
    expect((await get(`/v1/traces/${traceId}`, as(sameTeam)))[0]).toBe(200);
    expect((await get(`/v1/traces/${otherTrace}`, as(keyWithoutTeam)))[0]).toBe(200);
    const withoutAccess: readonly (readonly [string, string])[] = [
      ...others.flatMap((key) => [[key, traceId] as const, [key, otherTrace] as const]),
      [keyWithoutTeam, traceId],
      [team, otherTrace],
    ];
    for (const [key, id] of withoutAccess) {
      expect(await get(`/v1/traces/${id}`, as(key))).toEqual([404, { detail: `Trace ${id} not found` }]);
      for (const [ending, detail] of [
        ['', `Span ${'1'.repeat(16)} not found`],
        ['/error', 'Span diagnostic not found or no longer available'],
      ])
        expect(await get(`/v1/traces/${id}/spans/${'1'.repeat(16)}${ending}`, as(key))).toEqual([404, { detail }]);
    }
  });
});

describe('traces.ingest 413', () => {
  const limit = DEFAULT_OTLP_LIMITS.bodyBytes;

  it('a body over 16 MiB', async () => {
    const message = 'Request size is too large. Request size is 16 MB. Max size is 16 MB';
    expect(await statusTypeAndBody(sendBytes(app, new Uint8Array(limit + 1), PROTOBUF))).toEqual([
      413,
      'application/x-protobuf',
      asProtobuf(message),
    ]);
  });

  it('a small body that inflates past 16 MiB', async () => {
    const bomb = gzipSync(new Uint8Array(limit + 1));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect(await statusAndBody(sendBytes(app, bomb, headers))).toEqual([
      413,
      { message: `The body is larger than ${limit} bytes once inflated.` },
    ]);
  });

  it('more attributes than a span may have', async () => {
    const values = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`k${index}`, 1]));
    expect(await statusAndBody(send(app, otlpExport(otlpSpan('1', 0, 1, values))))).toEqual([
      413,
      { message: 'A span, resource or scope of the export has too many attributes.' },
    ]);
  });
});
