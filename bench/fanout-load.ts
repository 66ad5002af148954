// Subscribes many readers to traces over event streams, sends exports, and measures the delay of each update to each
// reader. Prints one line of JSON.
//   FANOUT='{"origin":…,"adminKey":…,"pid":…,"readers":1000,"rounds":3,"rate":10,"seconds":5,"stalls":true}' node bench/fanout-load.ts
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { encodeExport } from '../src/wire/otlp/encode.ts';
import { consumption } from './measure.ts';

export interface FanoutOrder {
  readonly origin: string;
  readonly adminKey: string;
  /** Process id of the server, for its CPU. */
  readonly pid: number;
  readonly readers: number;
  /** Rounds in which all readers read. With `stalls`, each is followed by one beside an additional stalled reader. */
  readonly rounds: number;
  readonly stalls: boolean;
  /** Updates a second. */
  readonly rate: number;
  readonly seconds: number;
}

export interface FanoutRound {
  /** Median delay: time from before the export is sent until a reader receives the update. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the server for each received update. */
  readonly cpuUs: number;
  readonly lost: number;
}

export interface FanoutReport {
  /** Growth of the server's resident memory per reader, while the readers connect. */
  readonly kibPerReader: number;
  readonly all: readonly FanoutRound[];
  readonly besideStalled: readonly FanoutRound[];
  /** Updates that the stalled reader missed, by the server's report when that reader resumes; 0 without a report. */
  readonly missed: number;
}

const order: FanoutOrder = JSON.parse(process.env['FANOUT'] ?? '{}');
const { hostname, port, host } = new URL(order.origin);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function post(path: string, key: string, contentType: string, body: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': contentType, 'content-length': body.length };
    const sent = request(`${order.origin}${path}`, { agent, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.on('end', () => (answer.statusCode === 200 ? resolve(text) : reject(new Error(text))));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Creates a key of a team, which reads the traces of that team only. */
async function keyOfTeam(): Promise<string> {
  const body = Buffer.from(JSON.stringify({ team_id: 'fanout' }));
  return (JSON.parse(await post('/key/generate', order.adminKey, 'application/json', body)) as { key: string }).key;
}

/** An export of `traces` traces, each with one span named `name`. */
function anExport(traces: number, name: string, input = ''): Uint8Array {
  const startNs = BigInt(Date.now()) * 1_000_000n;
  const spans = Array.from({ length: traces }, () => ({
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    parentSpanId: null,
    name,
    kind: 'INTERNAL' as const,
    startNs,
    endNs: startNs + 1_000_000n,
    status: 'ok' as const,
    statusMessage: '',
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o', 'gen_ai.prompt': input },
  }));
  return encodeExport(
    spans,
    { resource: { 'service.name': 'fanout' }, scope: { name: 'bench', version: '1' } },
    'protobuf',
  ).body;
}

const send = (key: string, body: Uint8Array): Promise<string> =>
  post('/v1/traces', key, 'application/x-protobuf', body);

/** Opens an event stream; resolves to its socket after the first bytes. Rejects when the status is not 200. */
async function follow(key: string, fields: string): Promise<Socket> {
  const body = JSON.stringify({ query: `subscription { traceUpdates { cursor droppedUpdates trace { ${fields} } } }` });
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  socket.write(
    `POST /graphql/stream HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const [first] = (await once(socket, 'data')) as [Buffer];
  if (!first.toString().startsWith('HTTP/1.1 200')) throw new Error(first.toString());
  return socket;
}

const FIELDS = 'traceId name service startedAt durationMs status spanCount inputTokens outputTokens models';
const AT = '@'.charCodeAt(0);
let delaysMs: number[] = [];

/** Records the delay of every update. The name of an update contains the time of sending: `@milliseconds@`. */
function listen(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    const now = performance.now();
    const text = rest.length === 0 ? data : Buffer.concat([rest, data]);
    let from = text.indexOf(AT);
    for (let to = text.indexOf(AT, from + 1); from >= 0 && to > 0; to = text.indexOf(AT, from + 1)) {
      delaysMs.push(now - Number(text.toString('latin1', from + 1, to)));
      from = text.indexOf(AT, to + 1);
    }
    rest = from < 0 ? Buffer.alloc(0) : text.subarray(from);
  });
}

async function round(key: string): Promise<FanoutRound> {
  delaysMs = [];
  const updates = order.rate * order.seconds;
  const expected = updates * order.readers;
  const before = consumption(order.pid).cpuNs;
  const startedAt = performance.now();
  for (let update = 0; update < updates; update += 1) {
    await after(Math.max(0, startedAt + (update * 1_000) / order.rate - performance.now()));
    await send(key, anExport(1, `@${performance.now()}@`));
  }
  for (let waited = 0; waited < 50 && delaysMs.length < expected; waited += 1) await after(100);
  const cpuUs = (consumption(order.pid).cpuNs - before) / 1e3 / delaysMs.length;
  delaysMs.sort((left, right) => left - right);
  const at = (part: number): number => delaysMs[Math.floor((delaysMs.length - 1) * part)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), cpuUs, lost: expected - delaysMs.length };
}

/**
 * A reader that requests large updates and does not read its socket. Resolves when more was sent than the socket can
 * buffer.
 */
async function stall(): Promise<Socket> {
  const largeFields = Array.from({ length: 60 }, (_, at) => `a${at}: inputPreview`).join(' ');
  const socket = await follow(order.adminKey, largeFields);
  socket.pause();
  const input = 'This is not read. '.repeat(20);
  // The kernel buffers about ten megabytes of a loopback connection.
  for (let sent = 0; sent < 16; sent += 1) await send(order.adminKey, anExport(100, 'stuffing', input));
  return socket;
}

/** Resumes a stalled reader; returns the number of updates that it missed, 0 when none is reported within 5 s. */
async function missedBy(socket: Socket): Promise<number> {
  let missed = 0;
  let rest = '';
  socket.on('data', (data: Buffer) => {
    rest += data.toString('latin1');
    for (const [, count] of rest.matchAll(/"droppedUpdates":(\d+)[,}]/g)) missed += Number(count);
    // Keeps the start of a number whose end is in the next data, and drops the numbers that are already added.
    rest = rest.slice(-24).replace(/"droppedUpdates":\d+[,}]/, '');
  });
  socket.resume();
  for (let waited = 0; waited < 50 && missed === 0; waited += 1) await after(100);
  return missed;
}

const key = await keyOfTeam();
const idle = consumption(order.pid).rss;
const sockets: Socket[] = [];
for (let reader = 0; reader < order.readers; reader += 1) {
  const socket = await follow(key, FIELDS);
  listen(socket);
  sockets.push(socket);
}
await after(500);
const kibPerReader = (consumption(order.pid).rss - idle) / 1_024 / order.readers;
// An unmeasured round, so that the code is compiled.
await round(key);
const all: FanoutRound[] = [];
const besideStalled: FanoutRound[] = [];
let missed = 0;
for (let turn = 0; turn < order.rounds; turn += 1) {
  all.push(await round(key));
  if (!order.stalls) continue;
  const stalled = await stall();
  besideStalled.push(await round(key));
  if (turn === order.rounds - 1) missed = await missedBy(stalled);
  stalled.destroy();
}
for (const socket of sockets) socket.destroy();
agent.destroy();
console.log(JSON.stringify({ kibPerReader, all, besideStalled, missed } satisfies FanoutReport));
