// Delay of a trace to a thousand readers of `traceUpdates`, with and without a stalled one. Compares it with a process
// that encodes each update once and writes it to as many sockets. Writes its part of bench/RESULTS.md.
//   npm run bench:fanout -- [--readers 1000] [--rounds 3] [--rate 10] [--seconds 5] [--runs 1] [--dry]
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { FanoutOrder, FanoutReport, FanoutRound } from './fanout-load.ts';
import { CORES, freePort, machine, median, pinned, productCommand, run, start, untilReady } from './measure.ts';
import { goal, judged, NO_BOUND, table, writePart } from './report.ts';

const { values: options } = parseArgs({
  options: {
    readers: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '5' },
    runs: { type: 'string', default: '1' },
    dry: { type: 'boolean', default: false },
  },
});
const [readers, rounds, runs] = [Number(options.readers), Number(options.rounds), Number(options.runs)];
const [rate, seconds] = [Number(options.rate), Number(options.seconds)];

const medianOf = (all: readonly FanoutRound[], field: keyof FanoutRound): number =>
  median(all.map((one) => one[field]));
const row = (name: string, all: readonly FanoutRound[]): readonly (string | number)[] => [
  name,
  medianOf(all, 'p50Ms').toFixed(1),
  medianOf(all, 'p99Ms').toFixed(1),
  Math.min(...all.map(({ cpuUs }) => cpuUs)).toFixed(1),
  Math.max(...all.map(({ lost }) => lost)),
];

/** From a manual run of `perf`. */
const PROFILE =
  'CPU time of a delivery by a profile: half is in the kernel, for one write to a socket. A sixth is in Node before that write. A tenth is in the loop over the readers. A fifth is for the export, which is read, packed, committed and answered once for all readers. The delay beyond that of the bare sockets is the time to process the export: about 2 ms before the first reader receives the update.';

/** Figures of one run. */
interface FanoutFigures {
  readonly times: string;
  /** Updates that the stalled reader missed. */
  readonly missed: number;
  readonly goals: readonly (readonly string[])[];
}

/** Starts a server and measures its readers. With `stalls` an additional reader reads nothing in every second round. */
async function reportOf(
  name: string,
  commandOf: (port: number) => readonly string[],
  { stalls }: { readonly stalls: boolean },
): Promise<FanoutReport> {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-fanout-'));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const adminKey = `sk-${randomBytes(24).toString('base64url')}`;
  const program = start(name, commandOf(port), {
    core: CORES.server,
    log: join(folder, `${name}.log`),
    env: {
      LENSGATE_DATA_DIR: join(folder, 'data'),
      LITELLM_MASTER_KEY: adminKey,
      LENSGATE_CATALOG_REFRESH_SECONDS: '0',
    },
  });
  try {
    await untilReady(`${origin}/health/readiness`);
    const order: FanoutOrder = { origin, adminKey, pid: program.pid, readers, rounds, rate, seconds, stalls };
    const output = await run(pinned(CORES.load, [process.execPath, join(import.meta.dirname, 'fanout-load.ts')]), {
      FANOUT: JSON.stringify(order),
    });
    return JSON.parse(output) as FanoutReport;
  } finally {
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const bareCommand = (port: number): readonly string[] => [
  process.execPath,
  join(import.meta.dirname, 'bare-feed.ts'),
  String(port),
];
const ourCommand = (port: number): readonly string[] => productCommand(['--port', String(port), '--host', '127.0.0.1']);

async function measureRun(): Promise<FanoutFigures> {
  const bare = await reportOf('bare-feed', bareCommand, { stalls: false });
  const ours = await reportOf('lensgate', ourCommand, { stalls: true });
  const { kibPerReader, all, besideStalled, missed } = ours;
  const [p50, p99] = [medianOf(all, 'p50Ms'), medianOf(all, 'p99Ms')];
  const cpu = Math.min(...all.map(({ cpuUs }) => cpuUs));
  const lost = Math.max(...[...all, ...besideStalled].map((one) => one.lost));
  const p50Ratio = median(besideStalled.map(({ p50Ms }, at) => p50Ms / (all[at]?.p50Ms ?? Number.NaN)));
  const times = table(
    ['Readers', 'p50 ms', 'p99 ms', 'CPU µs a delivery, best', 'lost, worst round'],
    [row('bare sockets', bare.all), row('all read', all), row('one more reader is stalled', besideStalled)],
  );
  // 19 is the number of this goal in bench/RESULTS.md.
  const goals = [
    goal('19 delay, p50', ['≤ 10 ms', '≤ 5 ms'], `${p50.toFixed(1)} ms`, [p50 <= 10, p50 <= 5]),
    goal('19 delay, p99', ['≤ 50 ms', '≤ 50 ms'], `${p99.toFixed(1)} ms`, [p99 <= 50, p99 <= 50]),
    goal('19 lost', ['0', '0'], String(lost), [lost === 0, lost === 0]),
    goal('19 p50 beside a stalled reader', ['< 1.1×', '< 1.1×'], `${p50Ratio.toFixed(2)}×`, [
      p50Ratio < 1.1,
      p50Ratio < 1.1,
    ]),
    goal('19 CPU a delivery, best', [NO_BOUND, '≤ 6 µs'], `${cpu.toFixed(1)} µs`, [true, cpu <= 6]),
    goal('19 memory a reader', [NO_BOUND, '≤ 20 KiB'], `${kibPerReader.toFixed(0)} KiB`, [true, kibPerReader <= 20]),
  ];
  return { times, missed, goals };
}

const conditions = machine().join('\n');
const figures: FanoutFigures[] = [];
const goalTable = (): string =>
  table(['Goal', 'Required', 'Desired', 'Measured', 'Verdict'], judged(figures.map(({ goals }) => goals)));
while (figures.length < runs) {
  const one = await measureRun();
  figures.push(one);
  console.log([one.times, `The stalled reader missed ${one.missed} updates.`, goalTable()].join('\n\n'));
}
const several = `${runs} runs, each with new processes. The table of goals has the figures of all runs; other tables of the whole run have those of the last one. A verdict holds when two thirds of the runs have it or a better one. `;
const text = figures
  .slice(-1)
  .flatMap(({ times, missed }) => [
    `## One trace to ${readers} readers`,
    `Measured ${new Date().toISOString().slice(0, 10)}: ${runs > 1 ? several : ''}${rounds} rounds of each kind in turn, ${rate} exports of one span a second for ${seconds} s. Every reader follows \`traceUpdates\` over a separate event stream. All readers use the same key and document.`,
    conditions,
    `A delay is the time from before the export is sent until the reader has the update. p50 and p99 are medians of the rounds. A delay includes the commit, and the time that one Node process needs to read ${readers} sockets. \`bare sockets\` is a Node process that stores nothing, checks no access and writes the same bytes to every socket. It is the lower bound on this machine. It is measured first. The stalled reader requests more data than its socket buffers hold, and reads nothing. When it resumes, it receives the number of missed updates, here ${missed}.`,
    times,
    PROFILE,
    goalTable(),
  ]);
if (!options.dry) writePart('fanout', text.join('\n\n'));
