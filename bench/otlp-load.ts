// Sends exports over keep-alive connections as fast as they are answered. Prints one line of JSON.
//   LOAD='{"url":…,"headers":{…},"exports":300,"spans":100,"connections":4,"seed":1,"format":"protobuf","renewed":false}' node bench/otlp-load.ts
import { constants, gzipSync } from 'node:zlib';
import { agentSpans } from './agent-spans.ts';
import { headOf, sendOverSocket } from './bare-socket.ts';
import { renewedExports } from './renewed-exports.ts';

export interface OtlpOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly exports: number;
  /** Spans of an export. */
  readonly spans: number;
  readonly connections: number;
  readonly seed: number;
  /** Some peers accept JSON only. */
  readonly format: 'protobuf' | 'json';
  /** Whether a few exports are repeated with new ids, for very long runs. Requires `protobuf`. */
  readonly renewed: boolean;
}

export interface OtlpReport {
  /** Time from before the connections are opened to the last answer. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 200. */
  readonly bad: number;
  /** Bytes of all exports before gzip. */
  readonly plainBytes: number;
  /** Bytes of all exports after gzip. */
  readonly gzipBytes: number;
}

const order: OtlpOrder = JSON.parse(process.env['LOAD'] ?? '{}');
const url = new URL(order.url);
const makeExport = agentSpans(order.seed);
const headers = {
  ...order.headers,
  'content-type': order.format === 'json' ? 'application/json' : 'application/x-protobuf',
  'content-encoding': 'gzip',
};
let plainBytes = 0;
let gzipBytes = 0;
function requestOf(plain: Uint8Array, level: number): Buffer {
  const body = gzipSync(plain, { level });
  plainBytes += plain.length;
  gzipBytes += body.length;
  return Buffer.concat([headOf(url, 'POST', { ...headers, 'content-length': body.length }), body]);
}

/** The returned function returns each request once, then null. */
function requestSource(): () => Buffer | null {
  let left = order.exports;
  if (order.renewed) {
    const renewed = renewedExports(order.seed, order.spans);
    return () => (left-- > 0 ? requestOf(renewed(), constants.Z_BEST_SPEED) : null);
  }
  // Prepared in advance, so that the work of the sender is not measured.
  const requests = Array.from({ length: order.exports }, () =>
    requestOf(makeExport(order.spans, order.format), constants.Z_DEFAULT_COMPRESSION),
  );
  return () => requests[--left] ?? null;
}

const nextRequest = requestSource();
const latenciesMs: number[] = [];
let bad = 0;
function client(): Promise<void> {
  let sentAt = 0;
  return sendOverSocket(url, (status) => {
    const now = performance.now();
    if (status !== null) latenciesMs.push(now - sentAt);
    if (status !== null && status !== 200) bad += 1;
    sentAt = now;
    return nextRequest();
  });
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: order.connections }, client));
const elapsedMs = performance.now() - startedAt;
latenciesMs.sort((left, right) => left - right);
const quantile = (part: number): number => latenciesMs[Math.floor((latenciesMs.length - 1) * part)] ?? Number.NaN;
const report: OtlpReport = {
  elapsedMs,
  p50Ms: quantile(0.5),
  p99Ms: quantile(0.99),
  bad,
  plainBytes,
  gzipBytes,
};
console.log(JSON.stringify(report));
