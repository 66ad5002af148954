// CPU that each optimization saves: code of our own in place of a library (table in docs/performance.md). Starts the
// product twice, with the optimization and without it. Loads both in turn, with the workload that it was made for. Two
// workloads run code of the product without a server. Prints a table and changes no report. A ratio divides the CPU
// without the optimization by the CPU with it. `--dry` makes one short round to check the script.
//   npm run bench:switches -- [--only 'fast path'] [--rounds 6] [--seconds 3] [--warm 4] [--dry]
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOAD_TOOL } from './load.ts';
import { consumption, machine, type Program, run } from './measure.ts';
import { table } from './report.ts';
import { type Optimization, OPTIMIZATIONS } from './switches/optimizations.ts';
import { figuresOf, type Pair } from './switches/pairs.ts';
import type { MeasureRound } from './switches/workloads.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '3' },
    /** Seconds of load before the first round, so that the code is compiled. */
    warm: { type: 'string', default: '4' },
    dry: { type: 'boolean', default: false },
  },
});
const ROUNDS = options.dry ? 1 : Number(options.rounds);
const SECONDS = options.dry ? 0.2 : Number(options.seconds);
const WARM_SECONDS = options.dry ? 0 : Number(options.warm);
const chosen = OPTIMIZATIONS.filter(({ name }) => options.only === undefined || options.only === name);
if (chosen.length === 0) throw new Error(`--only takes one of: ${OPTIMIZATIONS.map(({ name }) => name).join(', ')}.`);
if (consumption(process.pid).cpuNs === 0) throw new Error('The CPU of a process cannot be read: /proc is missing.');

// Both products inherit this environment. A variable that is set here would switch the optimization off in both.
for (const { off } of OPTIMIZATIONS) for (const name of Object.keys(off)) delete process.env[name];

async function pairsOf({ off, workload }: Optimization): Promise<readonly Pair[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'lensgate-switches-'));
  const programs: Program[] = [];
  const open = (name: string, env: Optimization['off']): Promise<MeasureRound> => {
    const folder = join(scratch, name);
    mkdirSync(folder);
    return workload.open({ folder, env, programs });
  };
  try {
    const roundOn = await open('on', {});
    const roundOff = await open('off', off);
    if (WARM_SECONDS > 0) for (const round of [roundOn, roundOff]) await round(WARM_SECONDS);
    const pairs: Pair[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // The order alternates, so that a drift of the machine affects both products.
      const first = await (round % 2 === 0 ? roundOn : roundOff)(SECONDS);
      const second = await (round % 2 === 0 ? roundOff : roundOn)(SECONDS);
      pairs.push(round % 2 === 0 ? { on: first, off: second } : { on: second, off: first });
    }
    return pairs;
  } finally {
    for (const program of programs.toReversed()) await program.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

// The bundle is built before the first start, as in an install.
await run(['npm', 'run', '--silent', 'build']);
const rows: string[][] = [];
for (const optimization of chosen) {
  const { name, row, workload } = optimization;
  try {
    rows.push([name, row, workload.unit, ...figuresOf(await pairsOf(optimization))]);
  } catch (error) {
    console.error(`${name}: not measured.`, error);
    process.exitCode = 1;
    continue;
  }
  console.error(rows.at(-1)?.join(', '));
}
console.log(machine().join('\n'));
console.log(`${ROUNDS} paired rounds of ${SECONDS} s after ${WARM_SECONDS} s of warm-up, load by ${LOAD_TOOL}.`);
const head = ['Code', 'Row', 'Unit', 'CPU µs with', 'CPU µs without', 'Ratio, median', 'lowest', 'highest'];
console.log(`\n${table(head, rows)}`);
