import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import { type HttpClient, HttpFailure, type UpstreamAnswer } from '../../../src/domain/http.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { ExportedSpan } from '../../../src/domain/traces/exported-span.ts';
import type { OtlpExportSettings } from '../../../src/runtime/settings/otlp-export.ts';
import { createSpanExporter } from '../../../src/runtime/telemetry/span-exporter.ts';
import { aRawSpan } from '../../support/raw-span.ts';

const SETTINGS: OtlpExportSettings = {
  url: 'http://collector/v1/traces',
  headers: { authorization: new Secret('Bearer collector-key') },
  encoding: 'json',
  gzip: false,
  timeoutMs: 1_000,
};

interface ReceivedExport {
  readonly headers: Readonly<Record<string, string>>;
  readonly names: readonly string[];
}

/** Answer of the collector: a status, headers and a body, or a network failure. */
type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string } | Error;

/** A collector with scripted answers, then 200, and its exporter with short delays. */
function aCollector(answers: readonly Answer[] = [], settings: Partial<OtlpExportSettings> = {}, retryMs = 1) {
  const remaining = [...answers];
  const sent: ReceivedExport[] = [];
  const lines: unknown[] = [];
  let arrived: (() => void) | null = null;
  const http: HttpClient = {
    post(url, headers, body, { signal }) {
      expect(url).toBe(SETTINGS.url);
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      sent.push({ headers, names: JSON.parse(Buffer.from(plain).toString()) as string[] });
      arrived?.();
      const answer = remaining.shift() ?? { status: 200 };
      if (answer instanceof Error) return Promise.reject(answer);
      const { status, headers: responseHeaders = {}, body: text = '' } = answer;
      return Promise.resolve<UpstreamAnswer>({
        status,
        headers: responseHeaders,
        body: streamOfBytes(Buffer.from(text)),
      });
    },
    send: () => Promise.reject(new Error('this test sends no request')),
    close: () => Promise.resolve(),
  };
  const spanExport = createSpanExporter({
    settings: { ...SETTINGS, ...settings },
    http,
    format: {
      encode: (spans) => ({
        contentType: 'application/json',
        body: Buffer.from(JSON.stringify(spans.map(({ name }) => name))),
      }),
      rejected: (answer) => ({ rejectedSpans: Number(Buffer.from(answer).toString() || 0), message: 'too old' }),
    },
    log: { warn: (facts, event) => lines.push([facts, event]) },
    timing: { gatherMs: 1, retryMs, maxRetryMs: 60_000 },
  });
  /** Resolves when this number of requests has arrived. */
  async function requests(count: number): Promise<void> {
    while (sent.length < count)
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
  }
  return { spanExport, sent, lines, requests };
}

const aSpan = (name: string, overrides: Partial<ExportedSpan> = {}): ExportedSpan => ({
  ...aRawSpan(),
  name,
  ...overrides,
});
/** Deadline of a drain that ends earlier. */
const LONG_MS = 600_000;

it('spans that are pushed together are sent in one request, with the configured headers', async () => {
  const { spanExport, sent, requests } = aCollector();
  spanExport.push(aSpan('a'));
  spanExport.push(aSpan('b'));
  await requests(1);
  await spanExport.drain(LONG_MS);
  expect(sent).toEqual([
    { headers: { authorization: 'Bearer collector-key', 'content-type': 'application/json' }, names: ['a', 'b'] },
  ]);
  expect(spanExport.counts()).toEqual({ sent: 2, dropped: 0, failed: 0, waiting: 0 });
});

it('a body is compressed where compression is configured', async () => {
  const { spanExport, sent } = aCollector([], { gzip: true });
  spanExport.push(aSpan('a'));
  await spanExport.drain(LONG_MS);
  expect(sent).toMatchObject([{ headers: { 'content-encoding': 'gzip' }, names: ['a'] }]);
});

it('a request has at most 512 spans and 2 MiB', async () => {
  const { spanExport, sent } = aCollector();
  for (let index = 0; index < 1_000; index++) spanExport.push(aSpan(String(index)));
  for (let index = 0; index < 3; index++)
    spanExport.push(aSpan('large', { attributes: { text: 'x'.repeat(1_500_000) } }));
  await spanExport.drain(LONG_MS);
  // The second request has the other 488 small spans and one large span.
  expect(sent.map(({ names }) => names.length)).toEqual([512, 489, 1, 1]);
  expect(sent.flatMap(({ names }) => names).slice(0, 1_000)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => String(index)),
  );
});

it.each([
  ['429', { status: 429 }],
  ['502', { status: 502 }],
  ['503', { status: 503, headers: { 'retry-after': '0' } }],
  ['504', { status: 504, headers: { 'retry-after': new Date(0).toUTCString() } }],
  ['no answer', new HttpFailure('unreachable', 'The upstream could not be reached.')],
])('after %s the same spans are sent again', async (_what, answer) => {
  const { spanExport, sent, requests, lines } = aCollector([answer, answer]);
  spanExport.push(aSpan('a'));
  await requests(3);
  await spanExport.drain(LONG_MS);
  expect(sent.map(({ names }) => names)).toEqual([['a'], ['a'], ['a']]);
  expect([spanExport.counts(), lines]).toEqual([{ sent: 1, dropped: 0, failed: 0, waiting: 0 }, []]);
});

it('the retry waits as long as the collector requests, at most `maxRetryMs`, but not at shutdown', async () => {
  const { spanExport, sent, requests } = aCollector([{ status: 503, headers: { 'retry-after': '50' } }]);
  spanExport.push(aSpan('a'));
  await requests(1);
  expect(spanExport.counts()).toMatchObject({ waiting: 1 });
  // The drain retries immediately, not after fifty seconds.
  await spanExport.drain(LONG_MS);
  expect([sent.length, spanExport.counts()]).toEqual([2, { sent: 1, dropped: 0, failed: 0, waiting: 0 }]);
});

it.each([400, 401, 404, 413, 500])('%i is final: the spans are dropped and counted', async (status) => {
  const { spanExport, sent, lines } = aCollector([{ status }]);
  spanExport.push(aSpan('a'));
  await spanExport.drain(LONG_MS);
  expect([sent.length, spanExport.counts()]).toEqual([1, { sent: 0, dropped: 0, failed: 1, waiting: 0 }]);
  expect(lines).toEqual([[{ spans: 1, reason: `the collector answered ${status}` }, 'spans could not be exported']]);
});

it('a request is tried six times, and later spans are sent in new requests', async () => {
  const { spanExport, sent, requests } = aCollector(Array.from({ length: 6 }, () => ({ status: 503 })));
  spanExport.push(aSpan('a'));
  await requests(6);
  spanExport.push(aSpan('b'));
  await requests(7);
  await spanExport.drain(LONG_MS);
  expect(sent.map(({ names }) => names[0])).toEqual([...Array<string>(6).fill('a'), 'b']);
  expect(spanExport.counts()).toEqual({ sent: 1, dropped: 0, failed: 1, waiting: 0 });
});

it('spans that a collector reports as rejected are counted as failed', async () => {
  const { spanExport, lines } = aCollector([{ status: 200, body: '2' }]);
  for (const name of ['a', 'b', 'c']) spanExport.push(aSpan(name));
  await spanExport.drain(LONG_MS);
  expect(spanExport.counts()).toEqual({ sent: 1, dropped: 0, failed: 2, waiting: 0 });
  expect(lines).toEqual([[{ rejected: 2, reason: 'too old' }, 'the collector rejected spans']]);
});

it('the queue is bounded: more spans are dropped, counted, and logged once', async () => {
  const { spanExport, lines, requests } = aCollector([{ status: 503 }], {}, 50_000);
  spanExport.push(aSpan('first'));
  await requests(1);
  for (let index = 0; index < 4_100; index++) spanExport.push(aSpan('next'));
  // At most 4,096 spans wait besides those of the current request.
  expect(spanExport.counts()).toEqual({ sent: 0, dropped: 4, failed: 0, waiting: 4_097 });
  expect(lines).toEqual([[{ dropped: 1 }, 'spans are not exported: too many wait for the collector']]);
  await spanExport.drain(LONG_MS);
  expect(spanExport.counts()).toEqual({ sent: 4_097, dropped: 4, failed: 0, waiting: 0 });
});

it('the queue is bounded to 32 MiB as well', async () => {
  const { spanExport } = aCollector([{ status: 503 }], {}, 50_000);
  for (let index = 0; index < 40; index++)
    spanExport.push(aSpan('large', { attributes: { text: 'x'.repeat(1_000_000) } }));
  // 32 MiB are 33,554,432 bytes, enough for 33 spans of a little more than 1,000,000 bytes.
  expect(spanExport.counts()).toMatchObject({ dropped: 7, waiting: 33 });
  await spanExport.drain(LONG_MS);
});

it('a drain ends at its deadline, and later spans are dropped', async () => {
  const failures = Array.from(
    { length: 9 },
    () => new HttpFailure('unreachable', 'The upstream could not be reached.'),
  );
  const { spanExport } = aCollector(failures, {}, 50_000);
  spanExport.push(aSpan('a'));
  await spanExport.drain(20);
  spanExport.push(aSpan('late'));
  expect(spanExport.counts()).toEqual({ sent: 0, dropped: 1, failed: 1, waiting: 0 });
});
