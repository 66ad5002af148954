// Ingest of spans on one core and on two. Writes its part of bench/RESULTS.md.
//   npm run bench:trace-cores -- [--rounds 3] [--exports 1000] [--runs 1] [--dry]
// Every turn has a new process and a new file, and one round for each number of connections. No other target runs at
// the same time, because its writes may reach the disk long after its round.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pinThreads, CORES, machine, median } from './measure.ts';
import { goal, judged, NO_BOUND, table, writePart } from './report.ts';
import { type Round, SPANS_PER_EXPORT, traceTargets } from './trace-targets.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    exports: { type: 'string', default: '1000' },
    runs: { type: 'string', default: '1' },
    dry: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
const EXPORTS = Number(options.exports);
const RUNS = Number(options.runs);
/**
 * Exports before the measured ones. Functions that run once per export are compiled after about a thousand exports. On
 * two cores they run in two threads, and each thread compiles its own.
 */
const WARMING_EXPORTS = 1_500;
/** Sixteen connections use two cores fully. With fewer, exports wait for each other. */
const CONNECTIONS = [16, 8];

/** Cores of the product. */
interface Place {
  readonly name: string;
  readonly core: string | null;
  /** Pins the decoding thread and the garbage collector to the server's core, all other threads to the load's core. */
  readonly pinned: boolean;
}

const ONE: Place = { name: 'on one core', core: CORES.server, pinned: false };
const BOTH: Place = { name: 'on both cores', core: CORES.both, pinned: false };
const PINNED: Place = { name: 'on both cores, threads pinned', core: CORES.both, pinned: true };
const PLACES = [ONE, BOTH, PINNED];

/** Figures of a placement and a number of connections, by round. */
interface Trial {
  readonly place: Place;
  readonly connections: number;
  readonly rounds: Round[];
}

/** Measures a round for each number of connections, in one process. */
async function visit(place: Place, trials: readonly Trial[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
  const targets = traceTargets(folder);
  try {
    const product = await targets.product(place.name, place.core);
    await targets.round(product, WARMING_EXPORTS, { connections: Math.min(...CONNECTIONS) });
    if (place.pinned)
      pinThreads(product.program.pid, (thread) => (/^WorkerThread|V8Worker/.test(thread) ? CORES.server : CORES.load));
    for (const { connections, rounds } of trials) rounds.push(await targets.round(product, EXPORTS, { connections }));
  } finally {
    await targets.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Trials = readonly Trial[];

async function measureRun(): Promise<Trials> {
  const runTrials = PLACES.flatMap((place) =>
    CONNECTIONS.map((connections): Trial => ({ place, connections, rounds: [] })),
  );
  for (let turn = 0; turn < ROUNDS; turn += 1)
    for (const place of turn % 2 === 0 ? PLACES : PLACES.toReversed()) {
      const own = runTrials.filter((trial) => trial.place === place);
      await visit(place, turn % 2 === 0 ? own : own.toReversed());
    }
  return runTrials;
}

const medianOf = (rounds: readonly Round[], figure: (round: Round) => number): number => median(rounds.map(figure));
const busyCores = ({ cpuUs, spansPerSecond }: Round): number => (cpuUs * spansPerSecond) / 1e6;

const rowOf = ({ place, connections, rounds }: Trial): (string | number)[] => [
  place.name,
  connections,
  Math.round(medianOf(rounds, (round) => round.spansPerSecond)),
  Math.round(Math.max(...rounds.map((round) => round.spansPerSecond))),
  medianOf(rounds, (round) => round.p50Ms).toFixed(1),
  medianOf(rounds, (round) => round.p99Ms).toFixed(1),
  medianOf(rounds, (round) => round.cpuUs).toFixed(1),
  medianOf(rounds, busyCores).toFixed(2),
];

/** The median of the ratios of the rounds. */
function overOne(runTrials: Trials, where: Place, connections: number): number {
  const roundsOf = (place: Place): readonly Round[] =>
    runTrials.find((trial) => trial.place === place && trial.connections === connections)?.rounds ?? [];
  const one = roundsOf(ONE);
  return median(
    roundsOf(where).map(({ spansPerSecond }, at) => spansPerSecond / (one[at]?.spansPerSecond ?? Number.NaN)),
  );
}

function goalsOf(runTrials: Trials): readonly (readonly string[])[] {
  const [most] = CONNECTIONS;
  return [BOTH, PINNED].flatMap((place) =>
    CONNECTIONS.map((connections) => {
      const ratio = overOne(runTrials, place, connections);
      const isJudged = place === BOTH && connections === most;
      // 13 is the number of this goal in bench/RESULTS.md.
      const what = isJudged ? '13 spans/s on both cores over one' : `the same ${place.name}`;
      const bounds = [isJudged ? '≥ 1.5×' : NO_BOUND, '≥ 1.8×'] as const;
      return goal(`${what}, ${connections} connections`, bounds, `${ratio.toFixed(2)}×`, [
        !isJudged || ratio >= 1.5,
        ratio >= 1.8,
      ]);
    }),
  );
}

const conditions = machine().join('\n');
const runs: Trials[] = [];
const tableOf = (runTrials: Trials): string =>
  table(
    [
      'The product',
      'connections',
      'spans/s, median',
      'spans/s, best',
      'p50 ms',
      'p99 ms',
      'CPU µs a span, median',
      'cores at work',
    ],
    runTrials.map(rowOf),
  );
const goalTable = (): string =>
  table(['Goal', 'Required', 'Desired', 'Measured', 'Verdict'], judged(runs.map(goalsOf)));
while (runs.length < RUNS) {
  const runTrials = await measureRun();
  runs.push(runTrials);
  console.log([tableOf(runTrials), goalTable()].join('\n\n'));
}
const several = `${RUNS} runs. The table of goals has the figures of all runs; other tables of the whole run have those of the last one. A verdict holds when two thirds of the runs have it or a better one. `;
const text = runs
  .slice(-1)
  .flatMap((runTrials) => [
    '## Traces: one core and two',
    `Measured ${new Date().toISOString().slice(0, 10)}: ${RUNS > 1 ? several : ''}${ROUNDS} rounds of each placement in turn, each with a new process and a new file, and no other target at the same time. A round has ${WARMING_EXPORTS} exports of warm-up, then ${EXPORTS} for each number of connections. An export has ${SPANS_PER_EXPORT} spans, protobuf, gzipped. The store is SQLite.`,
    conditions,
    'On both cores the server shares one of them with the load. With pinned threads, the thread that reads exports and the garbage collector run on the other core. Then the kernel cannot leave a core idle while two threads share the other one.',
    tableOf(runTrials),
    goalTable(),
  ]);
if (!options.dry) writePart('trace-cores', text.join('\n\n'));
