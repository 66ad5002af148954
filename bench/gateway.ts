// Loads nginx, a bare Node proxy and the product in turn and writes what it saw to bench/RESULTS.md.
//   npm run bench:gateway -- [--seconds 3] [--rounds 5] [--dry]
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type LoadOrder, type LoadReport, LOAD_TOOL, load } from './load.ts';
import { consumption, machine, median } from './measure.ts';
import { table, writePart } from './report.ts';
import { setStage, type Target } from './targets.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    dry: { type: 'boolean', default: false },
  },
});
/** Load before the first trial: the compiler's work at start is not part of any figure. */
const WARM_SECONDS = 15;
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);

interface Round extends LoadReport {
  readonly rps: number;
  readonly cpuUs: number;
  readonly rssMiB: number;
}

/** One setting under which every target is loaded in turn. */
interface Trial {
  readonly title: string;
  readonly stream: boolean;
  readonly connections: number;
}

type Rounds = ReadonlyMap<string, readonly Round[]>;

const TRIALS: readonly Trial[] = [
  { title: 'JSON, 1 client', stream: false, connections: 1 },
  { title: 'JSON, 16 clients', stream: false, connections: 16 },
  { title: 'JSON, 64 clients', stream: false, connections: 64 },
  { title: 'streams of 50 chunks, 16 clients', stream: true, connections: 16 },
];

const PROMPT = 'lorem ipsum dolor sit amet '.repeat(15).trim();
const bodyOf = (stream: boolean): string =>
  JSON.stringify({
    model: 'bench-model',
    messages: [
      { role: 'system', content: 'You are a test.' },
      { role: 'user', content: PROMPT },
    ],
    ...(stream ? { stream: true } : {}),
  });

async function measured(target: Target, order: LoadOrder, folder: string): Promise<Round> {
  const before = consumption(target.program.pid);
  const report = await load(order, folder);
  const { cpuNs, rss } = consumption(target.program.pid);
  return {
    ...report,
    rps: report.requests / (report.elapsedUs / 1e6),
    cpuUs: (cpuNs - before.cpuNs) / 1e3 / report.requests,
    rssMiB: rss / 2 ** 20,
  };
}

/** Every target once per round, in turn, so that a slow moment of the machine hits all of them alike. */
async function inTurn(
  targets: readonly Target[],
  order: Omit<LoadOrder, 'url' | 'headers'>,
  folder: string,
): Promise<Rounds> {
  const rounds = new Map<string, Round[]>(targets.map(({ name }) => [name, []]));
  const of = ({ url, headers }: Target, seconds: number): LoadOrder => ({ ...order, url, headers, seconds });
  for (const target of targets) await load(of(target, 1), folder);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const target of targets) {
      rounds.get(target.name)?.push(await measured(target, of(target, SECONDS), folder));
      // What a target still has to put away is its own cost, not its neighbour's.
      await after(500);
    }
  }
  return rounds;
}

const pick = (rounds: Rounds, name: string): readonly Round[] => rounds.get(name) ?? [];
const medianOf = (rounds: readonly Round[], field: keyof Round): number => median(rounds.map((round) => round[field]));
const least = (rounds: readonly Round[], field: keyof Round): number =>
  Math.min(...rounds.map((round) => round[field]));

/** The median of the ratios taken round by round. */
function ratio(rounds: Rounds, of: string, to: string, field: keyof Round): number {
  const base = pick(rounds, to);
  return median(pick(rounds, of).map((round, index) => round[field] / (base[index]?.[field] ?? Number.NaN)));
}

function rowsOf(title: string, rounds: Rounds): (string | number)[][] {
  return [...rounds].map(([name, taken]) => [
    title,
    name,
    Math.round(medianOf(taken, 'rps')),
    Math.round(medianOf(taken, 'p50Us')),
    Math.round(medianOf(taken, 'p99Us')),
    Math.round(least(taken, 'p99Us')),
    least(taken, 'cpuUs').toFixed(1),
    Math.round(medianOf(taken, 'rssMiB')),
    taken.reduce((sum, { bad }) => sum + bad, 0),
  ]);
}

const HEAD = ['Trial', 'Target', 'answers/s', 'p50 µs', 'p99 µs', 'p99 best', 'CPU µs each', 'RSS MiB', 'bad'];

interface Goal {
  readonly what: string;
  readonly must: string;
  readonly reach: string;
  readonly seen: number;
  readonly unit: string;
  readonly verdict: string;
}

function goal(
  what: string,
  seen: number,
  bounds: readonly [must: number, reach: number],
  unit: string,
  more: boolean,
): Goal {
  const [must, reach] = bounds;
  const holds = (bound: number): boolean => (more ? seen >= bound : seen <= bound);
  const sign = more ? '≥' : '≤';
  const verdict = Number.isNaN(seen) ? 'not measured here' : holds(reach) ? 'reached' : holds(must) ? 'met' : 'missed';
  return { what, must: `${sign} ${must}${unit}`, reach: `${sign} ${reach}${unit}`, seen, unit, verdict };
}

function goalsOf(trials: ReadonlyMap<Trial, Rounds>, flood: Rounds): readonly Goal[] {
  const at = (stream: boolean, connections: number): Rounds =>
    [...trials].find(([trial]) => trial.stream === stream && trial.connections === connections)?.[1] ?? new Map();
  const [one, sixteen, sixtyFour, streams] = [at(false, 1), at(false, 16), at(false, 64), at(true, 16)];
  const leastRatio = (rounds: Rounds): number =>
    least(pick(rounds, 'lensgate'), 'cpuUs') / least(pick(rounds, 'nginx'), 'cpuUs');
  const added = median(
    pick(one, 'lensgate').map((round, index) => round.p50Us - (pick(one, 'nginx')[index]?.p50Us ?? Number.NaN)),
  );
  const tail = (name: string): number => least(pick(sixteen, name), 'p99Us') / medianOf(pick(sixteen, name), 'p50Us');
  return [
    goal(
      '1 answers/s over node-undici, 16 clients',
      ratio(sixteen, 'lensgate', 'node-undici', 'rps'),
      [0.5, 1.1],
      '×',
      true,
    ),
    goal(
      '1 answers/s over node-undici, 64 clients',
      ratio(sixtyFour, 'lensgate', 'node-undici', 'rps'),
      [0.5, 1.1],
      '×',
      true,
    ),
    goal('2 CPU of a call over nginx, 16 clients', leastRatio(sixteen), [8, 4], '×', false),
    goal('3 p50 added to nginx, 1 client', added, [150, 60], ' µs', false),
    goal(
      '4 tail (p99 best / p50) over node-undici, 16 clients',
      tail('lensgate') / tail('node-undici'),
      [1.3, 1],
      '×',
      false,
    ),
    goal(
      '6 bad keys turned away/s over Koa hello',
      ratio(flood, 'lensgate', 'koa-hello', 'rps'),
      [0.6, 0.9],
      '×',
      true,
    ),
    goal(
      '9 streams/s over node-undici, 16 clients',
      ratio(streams, 'lensgate', 'node-undici', 'rps'),
      [0.5, 0.9],
      '×',
      true,
    ),
  ];
}

/** Proof that the features were on: the calls are traces that can be read back. */
async function recordedTraces(origin: string, adminKey: string): Promise<number> {
  const answer = await fetch(`${origin}/v1/traces`, { headers: { authorization: `Bearer ${adminKey}` } });
  const page: { readonly data?: readonly unknown[] } = JSON.parse(await answer.text());
  return page.data?.length ?? 0;
}

async function floodWithBadKeys(stage: Awaited<ReturnType<typeof setStage>>, folder: string): Promise<Rounds> {
  const callsBefore = await upstreamCalls(stage.upstreamOrigin);
  const { product, koaHello } = stage;
  const strangers = { ...product, headers: { ...product.headers, authorization: 'Bearer sk-nobody-knows-this-key' } };
  const refused = { body: bodyOf(false), connections: 16, expectedStatus: 401, seconds: SECONDS };
  const flood = new Map<string, Round[]>([
    ['koa-hello', []],
    ['lensgate', []],
  ]);
  for (let round = 0; round < Math.min(ROUNDS, 3); round += 1) {
    flood
      .get('koa-hello')
      ?.push(
        await measured(
          koaHello,
          { ...refused, url: koaHello.url, headers: koaHello.headers, expectedStatus: 200 },
          folder,
        ),
      );
    flood
      .get('lensgate')
      ?.push(await measured(strangers, { ...refused, url: strangers.url, headers: strangers.headers }, folder));
  }
  const reached = (await upstreamCalls(stage.upstreamOrigin)) - callsBefore;
  if (reached > 0) throw new Error(`${reached} calls with a bad key reached the upstream.`);
  return flood;
}

async function upstreamCalls(origin: string): Promise<number> {
  return Number(await (await fetch(`${origin}/calls`)).text());
}

const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
const stage = await setStage(folder);
try {
  for (const { url, headers } of stage.targets) {
    const order = { body: bodyOf(false), connections: 16, seconds: WARM_SECONDS, expectedStatus: 200 };
    await load({ ...order, url, headers }, folder);
  }
  const trials = new Map<Trial, Rounds>();
  for (const trial of TRIALS) {
    const order = { body: bodyOf(trial.stream), connections: trial.connections, seconds: SECONDS, expectedStatus: 200 };
    trials.set(trial, await inTurn(stage.targets, order, folder));
    console.log(table(HEAD, rowsOf(trial.title, trials.get(trial) ?? new Map())));
  }
  const flood = await floodWithBadKeys(stage, folder);
  console.log(table(HEAD, rowsOf('bad key, 16 clients', flood)));
  const readBack = await recordedTraces(stage.product.origin, stage.product.adminKey);
  if (readBack === 0) throw new Error('The product kept no trace of the calls: its features were not on.');
  const goals = goalsOf(trials, flood);
  const goalTable = table(
    ['Goal', 'Must', 'Reach', 'Seen', 'Verdict'],
    goals.map(({ what, must, reach, seen, unit, verdict }) => [
      what,
      must,
      reach,
      `${seen.toFixed(2)}${unit}`,
      verdict,
    ]),
  );
  console.log(goalTable);
  const notes = join(import.meta.dirname, 'profile.md');
  const text = [
    `## The gateway beside nginx and a bare Node proxy`,
    `Measured ${new Date().toISOString().slice(0, 10)}: ${ROUNDS} rounds of ${SECONDS} s per target and trial after ${WARM_SECONDS} s of warm-up, load by ${LOAD_TOOL}.`,
    machine().join('\n'),
    'All three check a bearer key and forward a prompt of 0.5 kB to the same fake upstream (bare sockets, answers of 1.1 kB). ' +
      '`node-undici` also parses request and answer but keeps no books. `lensgate` runs as shipped: virtual key, route, ' +
      'price, spend row and trace span of every call, stored in SQLite while the load runs. Answers/s, p50, p99 and RSS are ' +
      'medians of the rounds; CPU is the best round, which is nearest to the program itself.',
    table(
      HEAD,
      [...trials]
        .flatMap(([trial, rounds]) => rowsOf(trial.title, rounds))
        .concat(rowsOf('bad key, 16 clients', flood)),
    ),
    'Ratios are medians of the ratios taken round by round. A whole stream counts as one answer.',
    goalTable,
    existsSync(notes) ? readFileSync(notes, 'utf8').trim() : '',
  ];
  if (!options.dry) writePart('gateway', text.filter(Boolean).join('\n\n'));
} finally {
  await stage.stop();
  rmSync(folder, { recursive: true, force: true });
}
