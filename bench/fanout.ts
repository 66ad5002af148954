// How long a trace takes to a thousand readers of `traceUpdates`, all reading and with one that does not; writes its
// part of bench/RESULTS.md.
//   npm run bench:fanout -- [--readers 1000] [--rounds 3] [--rate 10] [--seconds 5] [--runs 1] [--dry]
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { FanoutOrder, FanoutReport, FanoutRound } from './fanout-load.ts';
import { CORES, freePort, machine, median, pinned, productCommand, run, start, untilReady } from './measure.ts';
import { goal, judged, table, writePart } from './report.ts';

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

const of = (all: readonly FanoutRound[], field: keyof FanoutRound): number => median(all.map((one) => one[field]));
const row = (name: string, all: readonly FanoutRound[]): readonly (string | number)[] => [
  name,
  of(all, 'p50Ms').toFixed(1),
  of(all, 'p99Ms').toFixed(1),
  Math.min(...all.map(({ cpuUs }) => cpuUs)).toFixed(1),
  Math.max(...all.map(({ lost }) => lost)),
];

/** What one run saw. */
interface Seen {
  readonly times: string;
  /** Updates that the stalled reader was told it missed. */
  readonly missed: number;
  readonly goals: readonly (readonly string[])[];
}

async function seenInARun(): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-fanout-'));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const adminKey = `sk-${randomBytes(24).toString('base64url')}`;
  const program = start('lensgate', productCommand(['--port', String(port), '--host', '127.0.0.1']), {
    core: CORES.server,
    log: join(folder, 'lensgate.log'),
    env: {
      LENSGATE_DATA_DIR: join(folder, 'data'),
      LITELLM_MASTER_KEY: adminKey,
      LENSGATE_CATALOG_REFRESH_SECONDS: '0',
    },
  });
  try {
    await untilReady(`${origin}/health/readiness`);
    const order: FanoutOrder = { origin, adminKey, pid: program.pid, readers, rounds, rate, seconds };
    const said = await run(pinned(CORES.load, [process.execPath, join(import.meta.dirname, 'fanout-load.ts')]), {
      FANOUT: JSON.stringify(order),
    });
    const { kibPerReader, all, besideStalled, missed } = JSON.parse(said) as FanoutReport;
    const [p50, p99] = [of(all, 'p50Ms'), of(all, 'p99Ms')];
    const cpu = Math.min(...all.map(({ cpuUs }) => cpuUs));
    const lost = Math.max(...[...all, ...besideStalled].map((one) => one.lost));
    const moved = median(besideStalled.map(({ p50Ms }, at) => p50Ms / (all[at]?.p50Ms ?? Number.NaN)));
    const times = table(
      ['Readers', 'p50 ms', 'p99 ms', 'CPU µs a delivery, best', 'lost'],
      [row('all read', all), row('one more does not', besideStalled)],
    );
    const goals = [
      goal('19 delay, p50', ['≤ 10 ms', '≤ 5 ms'], `${p50.toFixed(1)} ms`, [p50 <= 10, p50 <= 5]),
      goal('19 delay, p99', ['≤ 50 ms', '≤ 50 ms'], `${p99.toFixed(1)} ms`, [p99 <= 50, p99 <= 50]),
      goal('19 lost', ['0', '0'], String(lost), [lost === 0, lost === 0]),
      goal('19 p50 beside a stalled reader', ['< 1.1×', '< 1.1×'], `${moved.toFixed(2)}×`, [moved < 1.1, moved < 1.1]),
      goal('19 CPU a delivery, best', ['none', '≤ 6 µs'], `${cpu.toFixed(1)} µs`, [true, cpu <= 6]),
      goal('19 memory a reader', ['none', '≤ 20 KiB'], `${kibPerReader.toFixed(0)} KiB`, [true, kibPerReader <= 20]),
    ];
    return { times, missed, goals };
  } finally {
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const conditions = machine().join('\n');
const seen: Seen[] = [];
const goalTable = (): string =>
  table(['Goal', 'Must', 'Reach', 'Seen', 'Verdict'], judged(seen.map(({ goals }) => goals)));
while (seen.length < runs) {
  const one = await seenInARun();
  seen.push(one);
  console.log([one.times, `The stalled reader was told of ${one.missed} missed.`, goalTable()].join('\n\n'));
}
const several = `${runs} runs with processes of their own; times are the last one's, the goals all of them: a goal holds when it held in two of three. `;
const text = seen
  .slice(-1)
  .flatMap(({ times, missed }) => [
    `## One trace to ${readers} readers`,
    `Measured ${new Date().toISOString().slice(0, 10)}: ${runs > 1 ? several : ''}${rounds} rounds of each kind in turn, ${rate} exports of one span a second for ${seconds} s; every reader follows \`traceUpdates\` over an event stream of its own, with one key and one document.`,
    conditions,
    `A delay is from before the export is sent until the reader has the update: it holds the commit, and the time of one Node process to read ${readers} sockets. The stalled reader asks for more than its socket holds and takes nothing; when it reads again it is told how many it missed, here ${missed}.`,
    times,
    goalTable(),
  ]);
if (!options.dry) writePart('fanout', text.join('\n\n'));
