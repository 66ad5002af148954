// Compares the catalog with plain Koa. Also measures its pauses while the price map is swapped, the time of pattern
// scans, and its memory. Writes its part of bench/RESULTS.md.
//   npm run bench:catalog -- [--seconds 3] [--rounds 5] [--dry]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openCatalogStage, type Question, type Side } from './catalog-stage.ts';
import { load, type LoadReport, LOAD_TOOL } from './load.ts';
import { consumption, CORES, machine, median, pinned, run } from './measure.ts';
import { table, verdictOn, writePart } from './report.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    dry: { type: 'boolean', default: false },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const WARM_SECONDS = options.dry ? 1 : 5;
/**
 * Duration of one round of requests to the second process, in s. That process reads a price map every second, so a
 * round has at least two refreshes.
 */
const SWAP_SECONDS = SECONDS + 2;
const CONNECTIONS = 16;
const SCANS = 50;

/** Bounds: answers/s as a share of Koa's, time of a scan and of a pause in ms, memory in MiB. */
const GOALS = { ratio: 0.7, scanMs: 10, pauseMs: 20, memoryMiB: 60 } as const;

interface Round extends LoadReport {
  readonly rps: number;
  readonly cpuUs: number;
}

async function measure({ url, program }: Side, folder: string, seconds = SECONDS): Promise<Round> {
  const before = consumption(program.pid).cpuNs;
  const report = await load(
    { url, headers: {}, body: null, connections: CONNECTIONS, seconds, expectedStatus: 200 },
    folder,
  );
  const cpuUs = (consumption(program.pid).cpuNs - before) / 1e3 / report.requests;
  return { ...report, rps: report.requests / (report.elapsedUs / 1e6), cpuUs };
}

const valuesOf = (rounds: readonly Round[], field: keyof Round): readonly number[] =>
  rounds.map((round) => round[field]);
const least = (rounds: readonly Round[], field: keyof Round): number => Math.min(...valuesOf(rounds, field));

const HEAD = [
  'Question',
  'Target',
  'answers/s',
  'p50 µs',
  'p99 µs',
  'longest µs',
  'longest, best',
  'CPU µs each, best',
  'bad',
];
const rowOf = (question: string, target: string, rounds: readonly Round[]): (string | number)[] => [
  question,
  target,
  Math.round(median(valuesOf(rounds, 'rps'))),
  Math.round(median(valuesOf(rounds, 'p50Us'))),
  Math.round(median(valuesOf(rounds, 'p99Us'))),
  Math.round(median(valuesOf(rounds, 'maxUs'))),
  Math.round(least(rounds, 'maxUs')),
  least(rounds, 'cpuUs').toFixed(1),
  valuesOf(rounds, 'bad').reduce((sum, bad) => sum + bad, 0),
];

interface Compared {
  readonly ratio: number;
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Both sides once per round, in turn, so that a slow moment of the machine affects both. */
async function compare({ title, koa, product }: Question, folder: string): Promise<Compared> {
  const rounds: Record<'koa' | 'product', Round[]> = { koa: [], product: [] };
  for (const { url } of [koa, product])
    await load(
      { url, headers: {}, body: null, connections: CONNECTIONS, seconds: WARM_SECONDS, expectedStatus: 200 },
      folder,
    );
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.koa.push(await measure(koa, folder));
    rounds.product.push(await measure(product, folder));
  }
  const ratios = rounds.product.map(({ rps }, at) => rps / (rounds.koa[at]?.rps ?? Number.NaN));
  return {
    ratio: median(ratios),
    rows: [rowOf(title, 'koa, prepared bytes', rounds.koa), rowOf(title, 'lensgate', rounds.product)],
  };
}

interface Scans {
  readonly ids: number;
  readonly scans: readonly { pattern: string; firstMs: number; medianMs: number; bestMs: number }[];
}
interface Memory {
  readonly heapMiB: number;
  readonly rssMiB: number;
}

async function inChild<Output>(
  script: string,
  args: readonly string[],
  flags: readonly string[] = [],
): Promise<Output> {
  const command = [process.execPath, ...flags, join(import.meta.dirname, script), ...args];
  return JSON.parse(await run(pinned(CORES.server, command))) as Output;
}

const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
const stage = await openCatalogStage(folder);
try {
  const answers: Compared[] = [];
  for (const question of stage.questions) answers.push(await compare(question, folder));

  // The same load with and without swaps of the whole map, in turn.
  const calm: Round[] = [];
  const swapped: Round[] = [];
  let swaps = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    calm.push(await measure(stage.followed, folder, SWAP_SECONDS));
    const before = await stage.swaps();
    stage.startSwapping();
    swapped.push(await measure(stage.followed, folder, SWAP_SECONDS));
    stage.stopSwapping();
    swaps += (await stage.swaps()) - before;
  }
  if (swaps === 0) throw new Error('The map was not swapped.');

  const { ids, scans } = await inChild<Scans>('catalog-scan.ts', [String(SCANS)]);
  const memory = await inChild<Record<'without' | 'loaded' | 'replaced', Memory>>(
    'catalog-memory.ts',
    [folder],
    ['--expose-gc'],
  );
  const growth = (field: keyof Memory): number => memory.replaced[field] - memory.without[field];
  const slowest = Math.max(...scans.map(({ medianMs }) => medianMs));
  // Every round contains swaps. The smallest maximum of the rounds is the best estimate of the pause of a swap.
  const pauseMs = least(swapped, 'maxUs') / 1e3;

  const figures = table(HEAD, [
    ...answers.flatMap(({ rows }) => rows),
    rowOf('one entry, no swaps', 'lensgate', calm),
    rowOf(`one entry, ${swaps} swaps of the whole map`, 'lensgate', swapped),
  ]);
  const goals = table(
    ['Goal', 'Required', 'Measured', 'Verdict'],
    [
      ...stage.questions.map(({ title }, at): readonly string[] => {
        const ratio = answers[at]?.ratio ?? Number.NaN;
        return [
          `${title}: answers/s over Koa`,
          `≥ ${GOALS.ratio}×`,
          `${ratio.toFixed(2)}×`,
          verdictOn(ratio >= GOALS.ratio),
        ];
      }),
      [
        `\`re:\` over ${ids} ids, median scan of the slowest pattern`,
        `< ${GOALS.scanMs} ms`,
        `${slowest.toFixed(1)} ms`,
        verdictOn(slowest < GOALS.scanMs),
      ],
      [
        'longest request during swaps, best round',
        `< ${GOALS.pauseMs} ms`,
        `${pauseMs.toFixed(1)} ms`,
        verdictOn(pauseMs < GOALS.pauseMs),
      ],
      [
        'memory of two catalogs, after both were read completely',
        `< ${GOALS.memoryMiB} MiB resident`,
        `${growth('rssMiB').toFixed(0)} MiB resident, ${growth('heapMiB').toFixed(0)} MiB held`,
        verdictOn(growth('rssMiB') < GOALS.memoryMiB),
      ],
    ],
  );
  const scanTable = table(
    ['Pattern', 'first ms', 'median ms'],
    scans.map(({ pattern, firstMs, medianMs }) => [
      `\`${pattern.replaceAll('|', '\\|')}\``,
      firstMs.toFixed(1),
      medianMs.toFixed(1),
    ]),
  );
  console.log([figures, goals, scanTable].join('\n\n'));
  const text = [
    '## The catalog beside plain Koa',
    `Measured ${new Date().toISOString().slice(0, 10)}: ${ROUNDS} rounds of ${SECONDS} s per target after ${WARM_SECONDS} s of warm-up, ${CONNECTIONS} clients, load by ${LOAD_TOOL}.`,
    machine().join('\n'),
    'Koa answers every request with the same prepared bytes. `lensgate` runs as shipped, with the free tier ' +
      'counted. Every request is the same. During swaps the product reads, once a second, a price map in which every row ' +
      'has changed. The rows with and without swaps are of a second process, which is not pinned to a core, because a worker thread ' +
      `reads the price map. Their rounds take ${SWAP_SECONDS} s. ` +
      'Figures are medians of the rounds. CPU is that of the best round. For the longest request of a round, ' +
      'the table has the median and the best of all rounds.',
    figures,
    goals,
    scanTable,
    'Patterns are compiled again for every scan. Memory is measured after garbage collection, with every row replaced once ' +
      'and every entry and page served. The memory of a process that has read a map and released it is subtracted.',
  ];
  if (!options.dry) {
    writePart('catalog', text.join('\n\n'));
  }
} finally {
  await stage.stop();
  rmSync(folder, { recursive: true, force: true });
}
