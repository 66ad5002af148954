// Ingest of spans beside the limit of reading them, what they take on disk, and reads of many; writes its part of
// bench/RESULTS.md.
//   npm run bench:traces -- [--rounds 5] [--exports 200] [--spans 200000] [--dry]
// `--spans 10000000` reads at the size of the goals; building that takes some ten minutes and 4 GB.
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  consumption,
  CORES,
  freePort,
  machine,
  median,
  pinned,
  productCommand,
  type Program,
  run,
  start,
  untilReady,
} from './measure.ts';
import type { OtlpOrder, OtlpReport } from './otlp-load.ts';
import { goal, table, writePart } from './report.ts';
import type { ReadReport, ReadTimes } from './trace-reads.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    exports: { type: 'string', default: '200' },
    spans: { type: 'string', default: '200000' },
    dry: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
const EXPORTS = Number(options.exports);
const READ_SPANS = Number(options.spans);
const SMALL_SPANS = 100_000;
const SPANS_PER_EXPORT = 100;
const CONNECTIONS = 4;

interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly program: Program;
}

interface Round extends OtlpReport {
  readonly spansPerSecond: number;
  readonly cpuUs: number;
  readonly rssMiB: number;
}

const script = (name: string): string => join(import.meta.dirname, name);
const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
const dataDir = join(folder, 'data');
const programs: Program[] = [];

function launch(name: string, command: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  const program = start(name, command, { core: CORES.server, log: join(folder, `${name}.log`), env });
  programs.push(program);
  return program;
}

async function startSink(): Promise<Target> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = launch('read-only', [process.execPath, script('otlp-sink.ts'), String(port)]);
  await untilReady(url);
  return { name: 'read-only', url, headers: {}, program };
}

/** The product as a user runs it, on SQLite. */
async function startProduct(): Promise<Target> {
  const port = await freePort();
  const adminKey = `sk-${randomBytes(24).toString('base64url')}`;
  const program = launch('lensgate', productCommand(['--port', String(port), '--host', '127.0.0.1']), {
    LENSGATE_DATA_DIR: dataDir,
    LITELLM_MASTER_KEY: adminKey,
    LENSGATE_CATALOG_REFRESH_SECONDS: '0',
  });
  await untilReady(`http://127.0.0.1:${port}/health/readiness`);
  const headers = { authorization: `Bearer ${adminKey}` };
  return { name: 'lensgate', url: `http://127.0.0.1:${port}/v1/traces`, headers, program };
}

let seed = 0;
async function round({ url, headers, program }: Target, exports = EXPORTS): Promise<Round> {
  const order: OtlpOrder = {
    url,
    headers,
    exports,
    spans: SPANS_PER_EXPORT,
    connections: CONNECTIONS,
    seed: ++seed,
  };
  const before = consumption(program.pid).cpuNs;
  const said = await run(pinned(CORES.load, [process.execPath, script('otlp-load.ts')]), {
    LOAD: JSON.stringify(order),
  });
  const after = consumption(program.pid);
  const report: OtlpReport = JSON.parse(said);
  if (report.bad > 0) throw new Error(`${report.bad} of ${exports} exports were not taken.`);
  const spans = exports * SPANS_PER_EXPORT;
  return {
    ...report,
    spansPerSecond: spans / (report.elapsedMs / 1_000),
    cpuUs: (after.cpuNs - before) / 1e3 / spans,
    rssMiB: after.rss / 2 ** 20,
  };
}

async function reads(spans: number): Promise<ReadReport> {
  const own = join(folder, `reads-${spans}`);
  mkdirSync(own);
  const said = await run(pinned(CORES.server, [process.execPath, script('trace-reads.ts'), own, String(spans)]));
  rmSync(own, { recursive: true });
  return JSON.parse(said) as ReadReport;
}

const of = (rounds: readonly Round[], field: keyof Round): readonly number[] => rounds.map((one) => one[field]);
const best = (rounds: readonly Round[]): number => Math.min(...of(rounds, 'cpuUs'));

const rowOf = (name: string, rounds: readonly Round[]): (string | number)[] => [
  name,
  Math.round(median(of(rounds, 'spansPerSecond'))),
  Math.round(Math.max(...of(rounds, 'spansPerSecond'))),
  median(of(rounds, 'p50Ms')).toFixed(1),
  median(of(rounds, 'p99Ms')).toFixed(1),
  best(rounds).toFixed(1),
  Math.round(Math.max(...of(rounds, 'rssMiB'))),
];

const shown = ({ p50Ms, p99Ms }: ReadTimes): string => `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)}`;
const readRow = (report: ReadReport): (string | number)[] => [
  report.spans,
  shown(report.firstPage),
  shown(report.firstPageOfTeam),
  shown(report.deepPage),
  shown(report.trace),
  Math.round(report.bytesPerSpan),
  Math.round(report.buildSpansPerSecond),
];

try {
  const sink = await startSink();
  const product = await startProduct();
  for (const target of [sink, product]) await round(target, Math.ceil(EXPORTS / 4));
  const limit: Round[] = [];
  const stored: Round[] = [];
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    limit.push(await round(sink));
    stored.push(await round(product));
  }
  await sink.program.stop();
  // What waits in the log comes into the file with the end of the process.
  await product.program.stop();
  const exports = Math.ceil(EXPORTS / 4) + ROUNDS * EXPORTS;
  const spans = exports * SPANS_PER_EXPORT;
  const diskBytes = statSync(join(dataDir, 'lensgate.db')).size / spans;
  const [one] = stored;
  const perSpan = (bytes: number | undefined): number => (bytes ?? Number.NaN) / (EXPORTS * SPANS_PER_EXPORT);
  const [protobufBytes, gzipBytes] = [perSpan(one?.protobufBytes), perSpan(one?.gzipBytes)];
  const rss = Math.max(...of(stored, 'rssMiB'));
  const ratio = median(
    stored.map(({ spansPerSecond }, at) => spansPerSecond / (limit[at]?.spansPerSecond ?? Number.NaN)),
  );
  const cpuRatio = best(limit) / best(stored);

  const small = await reads(SMALL_SPANS);
  const large = await reads(READ_SPANS);
  const growth = large.firstPage.p50Ms / small.firstPage.p50Ms;
  const depth = large.deepPage.p50Ms / large.firstPage.p50Ms;

  const ingestTable = table(
    ['Target', 'spans/s', 'best', 'p50 ms', 'p99 ms', 'CPU µs a span', 'RSS MiB'],
    [rowOf('read only: inflated, decoded, nothing kept', limit), rowOf('lensgate: stored before the answer', stored)],
  );
  const readTable = table(
    ['Spans', 'first page', 'of one team', 'page 1,000', 'trace of 10', 'bytes a span', 'written spans/s'],
    [readRow(small), readRow(large)],
  );
  const goals = table(
    ['Goal', 'Must', 'Reach', 'Seen', 'Verdict'],
    [
      goal('11 spans/s over the read-only limit', ['≥ 0.25×', '≥ 0.5×'], `${ratio.toFixed(2)}×`, [
        ratio >= 0.25,
        ratio >= 0.5,
      ]),
      goal('11 the same by CPU, best rounds', ['≥ 0.25×', '≥ 0.5×'], `${cpuRatio.toFixed(2)}×`, [
        cpuRatio >= 0.25,
        cpuRatio >= 0.5,
      ]),
      goal(
        `12 disk over ${Math.round(protobufBytes)} B of protobuf a span`,
        ['≤ 0.5×', `≤ ${Math.round(gzipBytes * 1.3)} B`],
        `${(diskBytes / protobufBytes).toFixed(2)}×, ${Math.round(diskBytes)} B`,
        [diskBytes <= protobufBytes / 2, diskBytes <= gzipBytes * 1.3],
      ),
      goal(
        `14 first page at ${READ_SPANS} spans, p99 and p50`,
        ['p99 ≤ 5 ms', 'p50 ≤ 0.3 ms'],
        `${large.firstPage.p99Ms.toFixed(2)} ms, ${large.firstPage.p50Ms.toFixed(2)} ms`,
        [large.firstPage.p99Ms <= 5, large.firstPage.p50Ms <= 0.3],
      ),
      goal(`14 p50 at ${READ_SPANS} over ${SMALL_SPANS} spans`, ['≤ 1.5×', '≤ 1.5×'], `${growth.toFixed(2)}×`, [
        growth <= 1.5,
        growth <= 1.5,
      ]),
      goal('14 page 1,000 over page 1, p50', ['none', '≤ 1.2×'], `${depth.toFixed(2)}×`, [true, depth <= 1.2]),
      goal('15 trace of ten spans, p99 and p50', ['p99 ≤ 10 ms', 'p50 ≤ 2 ms'], shown(large.trace), [
        large.trace.p99Ms <= 10,
        large.trace.p50Ms <= 2,
      ]),
      goal('memory while spans come in', ['< 300 MiB', '< 300 MiB'], `${Math.round(rss)} MiB`, [rss < 300, rss < 300]),
    ],
  );
  console.log([ingestTable, readTable, goals].join('\n\n'));
  const text = [
    '## Traces: stored beside only read',
    `Measured ${new Date().toISOString().slice(0, 10)}: ${ROUNDS} rounds of ${EXPORTS} exports, ${SPANS_PER_EXPORT} spans each, gzipped protobuf, ${CONNECTIONS} connections; SQLite. Node on npm has no other trace store in the same run.`,
    machine().join('\n'),
    `A span is ${Math.round(protobufBytes)} B of protobuf and ${Math.round(gzipBytes)} B gzipped. CPU is all threads of the process, the best round. Disk is the file after the last commit, with its indexes.`,
    ingestTable,
    'Reads ask the store itself, in process, p50 / p99 in ms; the spans of that database have no payloads.',
    readTable,
    goals,
  ];
  if (!options.dry) writePart('traces', text.join('\n\n'));
} finally {
  for (const program of programs) await program.stop();
  rmSync(folder, { recursive: true, force: true });
}
