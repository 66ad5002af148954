// How long reads of the trace store take over so many spans, ten a trace, without payloads. Prints one line of JSON.
//   node bench/trace-reads.ts <folder> <spans>
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Owner } from '../src/domain/caller.ts';
import type { PackedExport } from '../src/domain/traces/packed.ts';
import { spanRows } from '../src/domain/traces/span-rows.ts';
import type { SpanHead } from '../src/domain/traces/span.ts';
import { tallyOf, type TraceSummary, type TraceWindow } from '../src/domain/traces/trace.ts';
import { openStores } from '../src/persistence/orm.ts';

const SPANS_PER_TRACE = 10;
const TRACES_PER_CALL = 400;
const DAYS = 30;
const DAY_MS = 86_400_000;
const TEAMS = 50;
const READS = 400;
const PAGE = 50;
const DEEP_PAGE = 1_000;

export interface ReadTimes {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface ReadReport {
  readonly spans: number;
  readonly buildSpansPerSecond: number;
  readonly bytesPerSpan: number;
  readonly firstPage: ReadTimes;
  readonly firstPageOfTeam: ReadTimes;
  readonly deepPage: ReadTimes;
  readonly trace: ReadTimes;
}

const [folder = '', count = '100000'] = process.argv.slice(2);
const spans = Number(count);
const traces = Math.ceil(spans / SPANS_PER_TRACE);
const endMs = Date.now();
const stepMs = (DAYS * DAY_MS) / traces;
const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');
/** Random to look at, and made again from the number of the trace. */
const traceIdOf = (number: number): string => hex(Math.imul(number + 1, 0x9e3779b1) >>> 0, 8) + hex(number, 24);
const ownerOf = (number: number): Owner => ({ teamId: `team-${number % TEAMS}`, keyHash: hex(number % TEAMS, 64) });

function headsOf(number: number): readonly SpanHead[] {
  const traceId = traceIdOf(number);
  const startNs = BigInt(Math.floor(endMs - (traces - number) * stepMs)) * 1_000_000n;
  return Array.from({ length: SPANS_PER_TRACE }, (_, at): SpanHead => ({
    traceId,
    spanId: hex(number * SPANS_PER_TRACE + at + 1, 16),
    parentSpanId: at === 0 ? null : hex(number * SPANS_PER_TRACE + 1, 16),
    name: at === 0 ? 'invoke_agent planner' : 'chat gpt-4o',
    kind: at === 0 ? 'INTERNAL' : 'CLIENT',
    type: at === 0 ? 'agent' : 'llm',
    agent: 'planner',
    service: 'bench-agent',
    startNs: startNs + BigInt(at),
    endNs: startNs + 1_000_000_000n,
    status: 'ok',
    error: null,
    model: at === 0 ? null : 'gpt-4o',
    inputTokens: 100,
    outputTokens: 20,
    inputPreview: 'What is to be done about the order that never came?',
    requestId: null,
    provider: 'openai',
    framework: 'openai',
    callId: null,
    gateway: false,
    cost: null,
    estimate: null,
    source: null,
  }));
}

function packedOf(numbers: readonly number[]): PackedExport {
  return {
    body: { format: 'protobuf', compression: 'zstd', bytes: new Uint8Array(0) },
    traces: numbers.map((number) => {
      const heads = headsOf(number);
      return {
        traceId: traceIdOf(number),
        tally: tallyOf(heads),
        spanIds: heads.map(({ spanId }) => spanId),
        rows: spanRows(heads.map((head, at) => ({ head, payload: { kind: 'body', at } }))),
        calls: [],
      };
    }),
  };
}

const stores = await openStores({ databaseUrl: null, dataDir: folder, log: { warn: () => {} } });
const begun = performance.now();
for (let first = 0; first < traces; first += TRACES_PER_CALL) {
  const numbers = Array.from({ length: Math.min(TRACES_PER_CALL, traces - first) }, (_, at) => first + at);
  // One call for each owner, all waiting at the same moment: they share a commit.
  const byOwner = Map.groupBy(numbers, (number) => number % TEAMS);
  await Promise.all([...byOwner].map(([owner, own]) => stores.traces.ingestExport(ownerOf(owner), packedOf(own))));
}
const buildMs = performance.now() - begun;

async function timed(read: (turn: number) => Promise<unknown>): Promise<ReadTimes> {
  const times: number[] = [];
  for (let turn = 0; turn < READS; turn += 1) {
    const from = performance.now();
    await read(turn);
    times.push(performance.now() - from);
  }
  times.sort((left, right) => left - right);
  const at = (part: number): number => times[Math.floor((times.length - 1) * part)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

const window: TraceWindow = { startMs: 0, endMs: endMs + DAY_MS, after: null };
const positionOf = (summary: TraceSummary | undefined): TraceWindow['after'] =>
  summary === undefined ? null : { startMs: Number(summary.startNs / 1_000_000n), traceRef: summary.traceRef };
const [deepest] = await stores.traces.listSummaries(
  { kind: 'all' },
  // As far down as the thousandth page is, by the even pace they were made at.
  { ...window, endMs: Math.floor(endMs - Math.min(traces - PAGE, (DEEP_PAGE - 1) * PAGE) * stepMs) },
  1,
);
const firstPage = (): Promise<unknown> => stores.traces.listSummaries({ kind: 'all' }, window, PAGE);
await timed(firstPage);
const times = {
  firstPage: await timed(firstPage),
  firstPageOfTeam: await timed((turn) =>
    stores.traces.listSummaries({ kind: 'team', teamId: `team-${turn % TEAMS}` }, window, PAGE),
  ),
  deepPage: await timed(() =>
    stores.traces.listSummaries({ kind: 'all' }, { ...window, after: positionOf(deepest) }, PAGE),
  ),
  trace: await timed(async (turn) => {
    const traceId = traceIdOf((turn * 7_919) % traces);
    const found = await stores.traces.findSummaries({ kind: 'all' }, traceId, null);
    const heads = await stores.traces.listSpans(found);
    if ([...heads.values()][0]?.length !== SPANS_PER_TRACE) throw new Error(`Trace ${traceId} is not whole.`);
  }),
};
// Closed first: until then half of it is in the log.
await stores.close();
const report: ReadReport = {
  spans,
  buildSpansPerSecond: spans / (buildMs / 1_000),
  bytesPerSpan: statSync(join(folder, 'lensgate.db')).size / spans,
  ...times,
};
console.log(JSON.stringify(report));
