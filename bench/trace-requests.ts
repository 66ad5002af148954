// Requests a page of traces, a trace of ten spans and a span with its payload over one keep-alive connection. Measures
// the latency of every answer. Sends the spans with payloads first. Prints one line of JSON.
//   READS='{"origin":…,"adminKey":…,"traces":20000,"endMs":…,"requests":2000}' node bench/trace-requests.ts
import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { agentSpans } from './agent-spans.ts';
import { SPANS_PER_TRACE, traceIdOf } from './trace-fill.ts';
import type { ReadTimes } from './trace-reads.ts';

/** Settings of a run, from the variable `READS`. */
export interface RequestOrder {
  readonly origin: string;
  readonly adminKey: string;
  /** Number of traces that `fill` stored, and the end of their window. */
  readonly traces: number;
  readonly endMs: number;
  /** Number of requests of each kind. */
  readonly requests: number;
}

export interface RequestReport {
  readonly firstPage: ReadTimes;
  readonly trace: ReadTimes;
  /** One span with input, output and attributes, from an export of a hundred spans. */
  readonly span: ReadTimes;
}

const EXPORTS = 10;
const SPANS_PER_EXPORT = 100;
const PAGE = 50;
/** Requests before the measured ones, so that the code is compiled. */
const WARM_UP = 500;

const order: RequestOrder = JSON.parse(process.env['READS'] ?? '{}');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = { authorization: `Bearer ${order.adminKey}` };

function ask(path: string, body: Uint8Array | null = null): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = {
      ...headers,
      ...(body === null
        ? {}
        : { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip', 'content-length': body.length }),
    };
    const outgoing = request(
      `${order.origin}${path}`,
      { agent, method: body === null ? 'GET' : 'POST', headers: sent },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (answer.statusCode === 200) resolve(text);
          else reject(new Error(`${path} was answered with ${answer.statusCode}: ${text}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });
}

/**
 * Stores spans with payloads; resolves to their paths. The ids are constant: a second run on the same
 * data stores no span twice.
 */
async function spansWithPayloads(): Promise<readonly string[]> {
  const paths: string[] = [];
  let count = 0;
  let traceId = '';
  const makeExport = agentSpans(1, (bytes) => {
    count += 1;
    const id = `e${count.toString(16).padStart(bytes * 2 - 1, '0')}`;
    if (bytes === 16) traceId = id;
    else paths.push(`/v1/traces/${traceId}/spans/${id}`);
    return id;
  });
  for (let sent = 0; sent < EXPORTS; sent += 1) await ask('/v1/traces', gzipSync(makeExport(SPANS_PER_EXPORT)));
  return paths;
}

async function timed(pathOf: (turn: number) => string, isComplete: (text: string) => boolean): Promise<ReadTimes> {
  const times: number[] = [];
  for (let turn = 0; turn < WARM_UP + order.requests; turn += 1) {
    const path = pathOf(turn);
    const from = performance.now();
    const text = await ask(path);
    if (turn >= WARM_UP) times.push(performance.now() - from);
    if (turn % 100 === 0 && !isComplete(text)) throw new Error(`${path} was not answered whole: ${text}`);
  }
  times.sort((left, right) => left - right);
  const at = (part: number): number => times[Math.floor((times.length - 1) * part)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

const paths = await spansWithPayloads();
const window = `start_ms=0&end_ms=${order.endMs + 1}`;
const report: RequestReport = {
  firstPage: await timed(
    () => `/v1/traces?${window}`,
    (text) => (JSON.parse(text) as { data: unknown[] }).data.length === PAGE,
  ),
  trace: await timed(
    // 7919 is a prime: the requests are spread over all traces.
    (turn) => `/v1/traces/${traceIdOf((turn * 7_919) % order.traces)}`,
    (text) => (JSON.parse(text) as { spans: unknown[] }).spans.length === SPANS_PER_TRACE,
  ),
  span: await timed(
    (turn) => paths[(turn * 7) % paths.length] ?? '',
    (text) => (JSON.parse(text) as { input: string }).input.length > 1_000,
  ),
};
agent.destroy();
console.log(JSON.stringify(report));
