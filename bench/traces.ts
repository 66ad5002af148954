// Compares the ingest of spans with a process that only decodes and with a peer, Genkit. Measures disk and memory of
// spans, and reads of many spans. Writes its part of bench/RESULTS.md.
//   npm run bench:traces -- [--rounds 5] [--exports 200] [--spans 200000] [--ingest-spans 0] [--reads-in folder] [--runs 1] [--dry]
// `--spans 10000000` reads at the size of the goals. Filling takes ten minutes and 3 GB; a folder in `--reads-in` is
// filled once. `--ingest-spans 5000000` measures memory during ingest. `--runs 3` repeats everything with new processes
// and evaluates the goals over all runs.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CORES, machine, median, pinned, run } from './measure.ts';
import { goal, judged, NO_BOUND, table, writePart } from './report.ts';
import type { ReadReport, ReadTimes } from './trace-reads.ts';
import type { RequestReport } from './trace-requests.ts';
import { CONNECTIONS, type Round, SPANS_PER_EXPORT, type Target, traceTargets } from './trace-targets.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    exports: { type: 'string', default: '200' },
    spans: { type: 'string', default: '200000' },
    'ingest-spans': { type: 'string', default: '0' },
    'reads-in': { type: 'string' },
    runs: { type: 'string', default: '1' },
    dry: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
const RUNS = Number(options.runs);
const EXPORTS = Number(options.exports);
const READ_SPANS = Number(options.spans);
const MEMORY_SPANS = Number(options['ingest-spans']);
/** Exports per round while memory is measured. */
const MEMORY_EXPORTS = 5_000;
/** Spans of the small store, whose reads are compared with those of the store of `--spans`. */
const SMALL_SPANS = 100_000;
/** Requests of each kind over HTTP. */
const REQUESTS = 3_000;

/** Targets of one run, and their folder. */
interface Run {
  readonly folder: string;
  readonly targets: ReturnType<typeof traceTargets>;
}

/** Figures of one run. */
interface RunFigures {
  readonly protobufBytes: number;
  readonly gzipBytes: number;
  readonly tables: Readonly<Record<'ingest' | 'reads' | 'requests', string>>;
  readonly goals: readonly (readonly string[])[];
}

/** Figures of the store, and of the product over the same folder. */
async function reads({ folder, targets }: Run, spans: number): Promise<ReadReport & { readonly http: RequestReport }> {
  const keptFolder = options['reads-in'];
  const storeFolder = join(keptFolder ?? folder, `reads-${spans}`);
  mkdirSync(storeFolder, { recursive: true });
  const command = [process.execPath, join(import.meta.dirname, 'trace-reads.ts'), storeFolder, String(spans)];
  const store = JSON.parse(await run(pinned(CORES.server, command))) as ReadReport;
  const http = await targets.requests(storeFolder, spans, REQUESTS);
  if (keptFolder === undefined) rmSync(storeFolder, { recursive: true });
  return { ...store, http };
}

const valuesOf = (rounds: readonly Round[], field: keyof Round): readonly number[] => rounds.map((one) => one[field]);
const best = (rounds: readonly Round[]): number => Math.min(...valuesOf(rounds, 'cpuUs'));
/** The median of the ratios of the rounds. */
const ratio = (rounds: readonly Round[], over: readonly Round[]): number =>
  median(rounds.map(({ spansPerSecond }, at) => spansPerSecond / (over[at]?.spansPerSecond ?? Number.NaN)));

const rowOf = (name: string, rounds: readonly Round[]): (string | number)[] => [
  name,
  Math.round(median(valuesOf(rounds, 'spansPerSecond'))),
  Math.round(Math.max(...valuesOf(rounds, 'spansPerSecond'))),
  median(valuesOf(rounds, 'p50Ms')).toFixed(1),
  median(valuesOf(rounds, 'p99Ms')).toFixed(1),
  best(rounds).toFixed(1),
  Math.round(Math.max(...valuesOf(rounds, 'rssMiB'))),
];

const timesText = ({ p50Ms, p99Ms }: ReadTimes): string => `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)}`;
const requestRow = ({ spans, http }: { readonly spans: number; readonly http: RequestReport }): (string | number)[] => [
  spans,
  timesText(http.firstPage),
  timesText(http.trace),
  timesText(http.span),
];
const readRow = (report: ReadReport): (string | number)[] => [
  report.spans,
  timesText(report.firstPage),
  timesText(report.firstPageOfTeam),
  timesText(report.deepPage),
  timesText(report.trace),
  timesText(report.spanPage),
  Math.round(report.bytesPerSpan),
  Math.round(report.buildSpansPerSecond),
];

/** A goal with lower bounds: the required one, then the desired one. */
const atLeast = (what: string, [must, reach]: readonly [number, number], figure: number): readonly string[] =>
  goal(what, [`≥ ${must}×`, `≥ ${reach}×`], `${figure.toFixed(2)}×`, [figure >= must, figure >= reach]);
const atMost = (
  what: string,
  [must, reach]: readonly [number, number],
  figure: number,
  unit = '×',
): readonly string[] =>
  goal(what, [`≤ ${must}${unit}`, `≤ ${reach}${unit}`], `${figure.toFixed(2)}${unit}`, [
    figure <= must,
    figure <= reach,
  ]);
const within = (what: string, ms: number, figure: number): readonly string[] => atMost(what, [ms, ms], figure, ' ms');
/** A goal with a desired bound only. */
const wished = (what: string, reach: number, figure: number, unit = ' ms'): readonly string[] =>
  goal(what, [NO_BOUND, `≤ ${reach}${unit}`], `${figure.toFixed(2)}${unit}`, [true, figure <= reach]);

/** A target, and its figures by round. */
interface Trial {
  readonly target: Target;
  readonly rounds: Round[];
}

async function figuresOf(own: Run): Promise<RunFigures> {
  const { targets } = own;
  const sink = await targets.sink();
  const product = await targets.product('lensgate: stored before the answer', CORES.server);
  const genkit = await targets.genkit();
  const trials = [sink, product, ...(genkit === null ? [] : [genkit])].map((target): Trial => ({ target, rounds: [] }));
  const roundsOf = (target: Target): readonly Round[] => trials.find((trial) => trial.target === target)?.rounds ?? [];
  // An unmeasured round, so that the code is compiled.
  for (const { target } of trials) await targets.round(target, EXPORTS);
  for (let turn = 0; turn < ROUNDS; turn += 1)
    for (const { target, rounds } of trials) rounds.push(await targets.round(target, EXPORTS));

  const stored = roundsOf(product);
  // The product has stored one unmeasured round and the measured ones.
  let memorySpans = (1 + ROUNDS) * EXPORTS * SPANS_PER_EXPORT;
  while (memorySpans < MEMORY_SPANS) {
    await targets.round(product, MEMORY_EXPORTS, { renewed: true });
    memorySpans += MEMORY_EXPORTS * SPANS_PER_EXPORT;
  }
  const peakMiB = targets.peakMiB(product);
  // The write-ahead log is merged into the file at the end of the process.
  await targets.stop();
  const diskBytes = product.fileBytes() / memorySpans;
  const [one] = stored;
  const perSpan = (bytes: number | undefined): number => (bytes ?? Number.NaN) / (EXPORTS * SPANS_PER_EXPORT);
  const [protobufBytes, gzipBytes] = [perSpan(one?.plainBytes), perSpan(one?.gzipBytes)];
  const small = await reads(own, SMALL_SPANS);
  const large = await reads(own, READ_SPANS);

  const ingest = table(
    ['Target', 'spans/s, median', 'spans/s, best', 'p50 ms', 'p99 ms', 'CPU µs a span, best', 'RSS MiB, highest'],
    trials.map(({ target, rounds }) => rowOf(target.name, rounds)),
  );
  const readTimes = table(
    ['Spans', 'first page', 'of one team', 'page 1,000', 'trace of 10', '500 of 20,000', 'bytes a span', 'filled/s'],
    [readRow(small), readRow(large)],
  );
  const requests = table(
    ['Spans', 'first page', 'trace of 10', 'span with payload'],
    [requestRow(small), requestRow(large)],
  );
  // The number before a goal is its number in bench/RESULTS.md.
  const goals = [
    atLeast('11 spans/s over a sink that only decodes', [0.25, 0.5], ratio(stored, roundsOf(sink))),
    atLeast('the same by CPU, best rounds', [0.25, 0.5], best(roundsOf(sink)) / best(stored)),
    ...(genkit === null
      ? []
      : [
          atLeast('11 spans/s over genkit', [2, 2], ratio(stored, roundsOf(genkit))),
          atLeast('the same by CPU, best rounds', [2, 2], best(roundsOf(genkit)) / best(stored)),
        ]),
    goal(
      `12 disk of a span over its protobuf (${Math.round(protobufBytes)} B)`,
      ['≤ 0.5×', `≤ ${Math.round(gzipBytes * 1.3)} B`],
      `${(diskBytes / protobufBytes).toFixed(2)}×, ${Math.round(diskBytes)} B`,
      [diskBytes <= protobufBytes / 2, diskBytes <= gzipBytes * 1.3],
    ),
    within(`14 first page at ${READ_SPANS} spans, store, p99`, 5, large.firstPage.p99Ms),
    within(`14 first page at ${READ_SPANS} spans, HTTP, p99`, 15, large.http.firstPage.p99Ms),
    wished('first page, store, p50', 0.3, large.firstPage.p50Ms),
    atMost(
      `14 first page, store, p50 over that at ${SMALL_SPANS} spans`,
      [1.5, 1.5],
      large.firstPage.p50Ms / small.firstPage.p50Ms,
    ),
    wished('page 1,000 over page 1, store, p50', 1.2, large.deepPage.p50Ms / large.firstPage.p50Ms, '×'),
    within('15 trace of ten spans, HTTP, p99', 10, large.http.trace.p99Ms),
    within('15 span with payload, HTTP, p99', 10, large.http.span.p99Ms),
    wished('trace of ten spans, HTTP, p50', 2, large.http.trace.p50Ms),
    wished('span with payload, HTTP, p50', 2, large.http.span.p50Ms),
    goal(`memory while ${memorySpans} spans come in, peak`, ['< 300 MiB', '< 300 MiB'], `${Math.round(peakMiB)} MiB`, [
      peakMiB < 300,
      peakMiB < 300,
    ]),
  ];
  return { protobufBytes, gzipBytes, tables: { ingest, reads: readTimes, requests }, goals };
}

async function measureRun(): Promise<RunFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
  const targets = traceTargets(folder);
  try {
    return await figuresOf({ folder, targets });
  } finally {
    await targets.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const conditions = machine().join('\n');
const runs: RunFigures[] = [];
const goalTable = (): string =>
  table(['Goal', 'Required', 'Desired', 'Measured', 'Verdict'], judged(runs.map(({ goals }) => goals)));
while (runs.length < RUNS) {
  const figures = await measureRun();
  runs.push(figures);
  console.log([...Object.values(figures.tables), goalTable()].join('\n\n'));
}
const several = `${RUNS} runs, each with new processes. The table of goals has the figures of all runs; other tables of the whole run have those of the last one. A verdict holds when two thirds of the runs have it or a better one. `;
const text = runs
  .slice(-1)
  .flatMap(({ protobufBytes, gzipBytes, tables }) => [
    '## Traces: storing compared with only decoding',
    `Measured ${new Date().toISOString().slice(0, 10)}: ${RUNS > 1 ? several : ''}${ROUNDS} rounds of ${EXPORTS} exports, ${SPANS_PER_EXPORT} spans each, gzipped, ${CONNECTIONS} connections; SQLite. Lensgate takes protobuf, genkit only JSON.`,
    conditions,
    `A span is ${Math.round(protobufBytes)} B of protobuf and ${Math.round(gzipBytes)} B gzipped. CPU is that of all threads of the process in the best round. Goal 13 has its own benchmark (\`npm run bench:trace-cores\`). Disk is the file after the process has ended, with its indexes.`,
    tables.ingest,
    'Reads of the store in process, p50 / p99 in ms. The spans of that database have no payloads.',
    tables.reads,
    `Reads over HTTP, p50 / p99 in ms, by one client on one keep-alive connection, ${REQUESTS} requests of each kind. Each span with payload is read from a stored gzipped export of ${SPANS_PER_EXPORT}.`,
    tables.requests,
    goalTable(),
  ]);
if (!options.dry) writePart('traces', text.join('\n\n'));
