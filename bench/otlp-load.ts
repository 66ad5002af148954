// Sends exports over keep-alive connections as fast as they are answered. Prints one line of JSON.
//   LOAD='{"url":…,"headers":{…},"exports":300,"spans":100,"connections":4,"seed":1}' node bench/otlp-load.ts
import { gzipSync } from 'node:zlib';
import { Agent, request } from 'node:http';
import { agentSpans } from './agent-spans.ts';

export interface OtlpOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly exports: number;
  /** Spans of an export. */
  readonly spans: number;
  readonly connections: number;
  readonly seed: number;
  /** Some peers read only JSON. */
  readonly format: 'protobuf' | 'json';
}

export interface OtlpReport {
  /** From the first byte sent to the last answer. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 200. */
  readonly bad: number;
  /** Of all exports, before and after gzip. */
  readonly protobufBytes: number;
  readonly gzipBytes: number;
}

const order: OtlpOrder = JSON.parse(process.env['LOAD'] ?? '{}');
const anExport = agentSpans(order.seed);
// Made beforehand: what a sender does is not what is measured.
let protobufBytes = 0;
const bodies = Array.from({ length: order.exports }, () => {
  const plain = anExport(order.spans, order.format);
  protobufBytes += plain.length;
  return gzipSync(plain);
});
const agent = new Agent({ keepAlive: true, maxSockets: order.connections });
const contentType = order.format === 'json' ? 'application/json' : 'application/x-protobuf';
const headers = { ...order.headers, 'content-type': contentType, 'content-encoding': 'gzip' };

function send(body: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      order.url,
      { agent, method: 'POST', headers: { ...headers, 'content-length': body.length } },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const latenciesMs: number[] = [];
let bad = 0;
let next = 0;
async function client(): Promise<void> {
  for (;;) {
    const body = bodies[next++];
    if (body === undefined) return;
    const begun = performance.now();
    if ((await send(body)) !== 200) bad += 1;
    latenciesMs.push(performance.now() - begun);
  }
}

const begun = performance.now();
await Promise.all(Array.from({ length: order.connections }, client));
const elapsedMs = performance.now() - begun;
agent.destroy();
latenciesMs.sort((left, right) => left - right);
const quantile = (part: number): number => latenciesMs[Math.floor((latenciesMs.length - 1) * part)] ?? Number.NaN;
const report: OtlpReport = {
  elapsedMs,
  p50Ms: quantile(0.5),
  p99Ms: quantile(0.99),
  bad,
  protobufBytes,
  gzipBytes: bodies.reduce((total, { length }) => total + length, 0),
};
console.log(JSON.stringify(report));
