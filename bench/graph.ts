// Compares the graph with plain Koa, and with Yoga on Koa as its documentation shows it. Writes its part of
// bench/RESULTS.md.
//   npm run bench:graph -- [--seconds 3] [--rounds 5] [--runs 1] [--dry]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LIST } from './graph-list.ts';
import { load, type LoadReport, LOAD_TOOL } from './load.ts';
import {
  consumption,
  CORES,
  freePort,
  machine,
  median,
  type Program,
  productCommand,
  start,
  untilReady,
} from './measure.ts';
import { goal, judged, table, writePart } from './report.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    runs: { type: 'string', default: '1' },
    dry: { type: 'boolean', default: false },
  },
});
const [SECONDS, ROUNDS, RUNS] = [Number(options.seconds), Number(options.rounds), Number(options.runs)];
const WARM_SECONDS = 5;
const CONNECTIONS = 16;

const HELLO = '{ __typename }';

/**
 * Bounds for the CPU of an answer, as a multiple of Koa: for the same rows, and for a short body. `must` is required,
 * `reach` desired.
 */
const GOALS = { list: { must: 2, reach: 1.4 }, hello: { must: 4, reach: 2.2 } } as const;

interface Target {
  readonly name: string;
  readonly url: string;
  /** Null for GET. */
  readonly query: string | null;
  readonly program: Program;
}
interface Round extends LoadReport {
  readonly rps: number;
  readonly cpuUs: number;
}

const script = (name: string): string => join(import.meta.dirname, name);
const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
const started: Program[] = [];

async function launch(
  name: string,
  commandOn: (port: string) => readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly origin: string; readonly program: Program }> {
  const port = await freePort();
  const program = start(name, commandOn(String(port)), { core: CORES.server, log: join(folder, `${name}.log`), env });
  started.push(program);
  return { origin: `http://127.0.0.1:${port}`, program };
}

const orderOf = ({ url, query }: Target, seconds: number) => ({
  url,
  headers: query === null ? {} : { 'content-type': 'application/json' },
  body: query === null ? null : JSON.stringify({ query }),
  connections: CONNECTIONS,
  seconds,
  expectedStatus: 200,
});

/** Throws when a target answers with an error, so that no errors are measured. */
async function checked(target: Target): Promise<Target> {
  const { url, headers, body } = orderOf(target, 0);
  const answer = await fetch(url, { method: body === null ? 'GET' : 'POST', headers, body });
  const text = await answer.text();
  if (!answer.ok || text.includes('"errors"')) throw new Error(`${target.name} answered ${answer.status}: ${text}`);
  return target;
}

async function launchProduct(name: string, env: Readonly<Record<string, string>>) {
  const product = await launch(name, (port) => productCommand(['--port', port, '--host', '127.0.0.1']), {
    LENSGATE_DATA_DIR: join(folder, `${name}-data`),
    LENSGATE_CATALOG_DAILY_LIMIT: '1000000000',
    LENSGATE_CATALOG_REFRESH_SECONDS: '0',
    ...env,
  });
  await untilReady(`${product.origin}/health/readiness`);
  return product;
}

async function openTargets(): Promise<readonly Target[]> {
  const product = await launchProduct('lensgate', {});
  const withoutPlans = await launchProduct('lensgate-without-plans', { LENSGATE_GRAPH_PLANS: 'off' });
  const answer = await fetch(`${product.origin}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: LIST }),
  });
  const { data }: { readonly data: { readonly catalogEntries: { readonly nodes: readonly object[] } } } = JSON.parse(
    await answer.text(),
  );
  const rows = join(folder, 'rows.json');
  writeFileSync(rows, JSON.stringify(data.catalogEntries.nodes));
  const peer = (kind: string) =>
    launch(kind, (port) => [process.execPath, script('graph-peer.ts'), port, kind, rows], { NODE_ENV: 'production' });
  const koa = await peer('koa');
  await untilReady(`${koa.origin}/hello`);
  const yoga = await peer('yoga');
  await untilReady(`${yoga.origin}/graphql?query=${encodeURIComponent(HELLO)}`);
  const graphs = (name: string, { origin, program }: typeof product): readonly Target[] => [
    { name: `${name}, list`, url: `${origin}/graphql`, query: LIST, program },
    { name: `${name}, hello`, url: `${origin}/graphql`, query: HELLO, program },
  ];
  return [
    { name: 'Koa, list', url: `${koa.origin}/rows`, query: null, program: koa.program },
    { name: 'Koa, hello', url: `${koa.origin}/hello`, query: null, program: koa.program },
    ...graphs('Yoga on Koa', yoga),
    ...graphs('lensgate', product),
    ...graphs('lensgate without plans', withoutPlans),
    {
      name: 'lensgate REST, page of 50',
      url: `${product.origin}/model_catalog`,
      query: null,
      program: product.program,
    },
  ];
}

async function measured(target: Target): Promise<Round> {
  const before = consumption(target.program.pid).cpuNs;
  const report = await load(orderOf(target, SECONDS), folder);
  const cpuUs = (consumption(target.program.pid).cpuNs - before) / 1e3 / report.requests;
  return { ...report, rps: report.requests / (report.elapsedUs / 1e6), cpuUs };
}

type Rounds = ReadonlyMap<string, readonly Round[]>;

/** Every target once per round, in turn, so that a slow moment of the machine affects all of them. */
async function inTurn(targets: readonly Target[]): Promise<Rounds> {
  const rounds = new Map<string, Round[]>(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const target of targets) rounds.get(target.name)?.push(await measured(target));
  return rounds;
}

const valuesOf = (rounds: Rounds, name: string, field: keyof Round): readonly number[] =>
  (rounds.get(name) ?? []).map((round) => round[field]);

/** Median of the ratios of CPU, taken round by round. */
const ratio = (rounds: Rounds, name: string, base: string): number => {
  const bases = valuesOf(rounds, base, 'cpuUs');
  return median(valuesOf(rounds, name, 'cpuUs').map((cpuUs, at) => cpuUs / (bases[at] ?? Number.NaN)));
};

const goalsOf = (rounds: Rounds): readonly (readonly string[])[] =>
  (['list', 'hello'] as const).map((what) => {
    const { must, reach } = GOALS[what];
    const overhead = ratio(rounds, `lensgate, ${what}`, `Koa, ${what}`);
    const title =
      what === 'list'
        ? 'list of 50 rows with 7 fields: CPU over Koa with the same rows'
        : '`{ __typename }`: CPU over Koa';
    return goal(title, [`≤ ${must}×`, `≤ ${reach}×`], `${overhead.toFixed(2)}×`, [overhead <= must, overhead <= reach]);
  });

const rowOf = (rounds: Rounds, { name }: Target): readonly (string | number)[] => [
  name,
  Math.round(median(valuesOf(rounds, name, 'rps'))),
  Math.round(median(valuesOf(rounds, name, 'p50Us'))),
  Math.round(median(valuesOf(rounds, name, 'p99Us'))),
  median(valuesOf(rounds, name, 'cpuUs')).toFixed(1),
  Math.min(...valuesOf(rounds, name, 'cpuUs')).toFixed(1),
  ratio(rounds, name, name.endsWith('hello') ? 'Koa, hello' : 'Koa, list').toFixed(2),
  valuesOf(rounds, name, 'bad').reduce((sum, bad) => sum + bad, 0),
];

try {
  const targets: Target[] = [];
  for (const target of await openTargets()) targets.push(await checked(target));
  for (const target of targets) await load(orderOf(target, WARM_SECONDS), folder);
  const runs: Rounds[] = [];
  for (let at = 0; at < RUNS; at += 1) runs.push(await inTurn(targets));
  const [first = new Map()] = runs;
  const figures = table(
    ['Target', 'answers/s', 'p50 µs', 'p99 µs', 'CPU µs each, median', 'CPU µs each, best', 'CPU over Koa', 'bad'],
    targets.map((target) => rowOf(first, target)),
  );
  const goals = table(['Goal', 'Required', 'Desired', 'Measured', 'Verdict'], judged(runs.map(goalsOf)));
  console.log([figures, goals].join('\n\n'));
  const text = [
    '## The graph beside plain Koa and documented Yoga on Koa',
    `Measured ${new Date().toISOString().slice(0, 10)}: ${RUNS} runs of ${ROUNDS} rounds of ${SECONDS} s per target after ${WARM_SECONDS} s of warm-up, ${CONNECTIONS} clients, load by ${LOAD_TOOL}.`,
    machine().join('\n'),
    'Koa renders the same 50 rows with `JSON.stringify` for every request. Yoga runs with its defaults, but without ' +
      'logging. `lensgate` runs as shipped, with the free tier counted. Its REST page is prepared bytes of whole entries. ' +
      '`lensgate without plans` runs with `LENSGATE_GRAPH_PLANS=off`. All runs use the same processes. The table shows the ' +
      'first run, the goals all runs. Figures are medians of the rounds where ' +
      'the column does not say best. Ratios are taken round by round. `bad` is the sum of the rounds.',
    figures,
    goals,
  ];
  if (!options.dry) writePart('graph', text.join('\n\n'));
} finally {
  for (const program of started.toReversed()) await program.stop();
  rmSync(folder, { recursive: true, force: true });
}
