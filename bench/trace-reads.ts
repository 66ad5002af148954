// Time of reads from the trace store. Traces have ten spans, one has 20,000; no span has a payload. Prints one line of
// JSON. Fills the folder if `fill` has not marked it.
//   node bench/trace-reads.ts <folder> <spans> [address of a ClickHouse server]
// On ClickHouse the database is new in each run: name an empty folder. `bytesPerSpan` is then not the size of the
// spans.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { SpanPosition } from '../src/domain/traces/span-cursor.ts';
import type { TraceSummary, TraceWindow } from '../src/domain/traces/trace.ts';
import { openStores } from '../src/persistence/database/orm.ts';
import { DAY_MS, DAYS, fill, LARGE, SPANS_PER_TRACE, TEAMS, traceIdOf } from './trace-fill.ts';

const READS = 400;
const PAGE = 50;
const DEEP_PAGE = 1_000;
const SPAN_PAGE = 500;

export interface ReadTimes {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface ReadReport {
  readonly spans: number;
  readonly buildSpansPerSecond: number;
  /** Size of the SQLite file for each span. */
  readonly bytesPerSpan: number;
  readonly firstPage: ReadTimes;
  readonly firstPageOfTeam: ReadTimes;
  readonly deepPage: ReadTimes;
  readonly trace: ReadTimes;
  /** A page of the 20,000 spans of one trace. */
  readonly spanPage: ReadTimes;
}

const ALL = { kind: 'all' } as const;
const [folder = '', count = '100000', clickHouse] = process.argv.slice(2);
const spans = Number(count);
const stores = await openStores({
  databaseUrl: null,
  dataDir: folder,
  traces: clickHouse === undefined ? null : { url: clickHouse, database: `lensgate_bench_${process.pid}` },
  log: { warn: () => {} },
});
const { endMs, buildMs } = await fill(stores.traces, folder, spans);
const traces = Math.ceil(spans / SPANS_PER_TRACE);
const stepMs = (DAYS * DAY_MS) / traces;

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

// Ends at the filled traces. Other benchmarks may have added later ones to a folder of `bench:traces -- --reads-in`.
const window: TraceWindow = { startMs: 0, endMs: endMs + 1, after: null };
const positionOf = (summary: TraceSummary | undefined): TraceWindow['after'] =>
  summary === undefined ? null : { startMs: Number(summary.startNs / 1_000_000n), traceRef: summary.traceRef };
const [deepest] = await stores.traces.listSummaries(
  ALL,
  // Position of the thousandth page; traces are evenly spaced.
  { ...window, endMs: Math.floor(endMs - Math.min(traces - PAGE, (DEEP_PAGE - 1) * PAGE) * stepMs) },
  1,
);
const [large] = await stores.traces.findSummaries(ALL, LARGE.traceId, null);
if (large?.spanCount !== LARGE.spans) throw new Error('The large trace is incomplete.');

/** Reads the pages in order, and starts again after the last one. */
function paging(trace: TraceSummary): () => Promise<void> {
  let after: SpanPosition | null = null;
  return async () => {
    const page = await stores.traces.listSpanPage(trace, after, SPAN_PAGE + 1);
    after = page.length > SPAN_PAGE ? (page[SPAN_PAGE - 1] ?? null) : null;
  };
}

const firstPage = (): Promise<unknown> => stores.traces.listSummaries(ALL, window, PAGE);
// Not measured, so that the code is compiled.
await timed(firstPage);
const times = {
  firstPage: await timed(firstPage),
  firstPageOfTeam: await timed((turn) =>
    stores.traces.listSummaries({ kind: 'team', teamId: `team-${turn % TEAMS}` }, window, PAGE),
  ),
  deepPage: await timed(() => stores.traces.listSummaries(ALL, { ...window, after: positionOf(deepest) }, PAGE)),
  trace: await timed(async (turn) => {
    // 7919 is a prime: the reads are spread over all traces.
    const traceId = traceIdOf((turn * 7_919) % traces);
    const found = await stores.traces.findSummaries(ALL, traceId, null);
    const heads = await stores.traces.listSpans(found);
    if ([...heads.values()][0]?.length !== SPANS_PER_TRACE) throw new Error(`Trace ${traceId} is not whole.`);
  }),
  spanPage: await timed(paging(large)),
};
// The size is read after closing: before, half of the data is in the write-ahead log.
await stores.close();
const report: ReadReport = {
  spans,
  buildSpansPerSecond: spans / (buildMs / 1_000),
  bytesPerSpan: statSync(join(folder, 'lensgate.db')).size / (spans + LARGE.spans),
  ...times,
};
console.log(JSON.stringify(report));
