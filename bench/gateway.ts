// Loads nginx, a bare Node proxy and the product in turn and writes the figures to bench/RESULTS.md. `--full` adds
// Portkey's gateway, a Node proxy over node:http, large prompts and streams at three concurrencies, paced streams, and
// the product without accounting. `--goals` is `--full` without the trials that no goal uses. `--runs 3` repeats
// everything with new processes and evaluates the goals over all runs.
//   npm run bench:gateway -- [--seconds 3] [--rounds 5] [--warm 15] [--full | --goals] [--runs 1] [--dry]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  GOALS_HEAD,
  goalRows,
  goalsOf,
  LARGE_PROMPT,
  NO_ACCOUNTING,
  type RunFigures,
  SMALL_PROMPT,
} from './gateway-goals.ts';
import { LOAD_TOOL, load } from './load.ts';
import { machine } from './measure.ts';
import { PACED_HEAD, type PacedRounds, pacedInTurn, pacedRows } from './paced.ts';
import { table, writePart } from './report.ts';
import {
  bodyOf,
  inTurn,
  measured,
  type Round,
  type Rounds,
  ROUNDS_HEAD,
  rowsOf,
  settle,
  type Trial,
} from './rounds.ts';
import { startStage, type Stage, type Target } from './targets.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    warm: { type: 'string', default: '15' },
    full: { type: 'boolean', default: false },
    goals: { type: 'boolean', default: false },
    runs: { type: 'string', default: '1' },
    dry: { type: 'boolean', default: false },
  },
});
/** Seconds of load on each target before the first trial, so that figures exclude compilation. */
const WARM_SECONDS = Number(options.warm);
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const RUNS = Number(options.runs);
/** Delays need fewer rounds: each round has thousands of chunks. */
const PACED_ROUNDS = Math.min(ROUNDS, 3);

const trial = (stream: boolean, connections: number, promptBytes = SMALL_PROMPT): Trial => {
  const what = stream ? 'streams of 50 chunks' : 'JSON';
  const large = promptBytes === LARGE_PROMPT ? ', prompt of 100 kB' : '';
  return {
    title: `${what}${large}, ${connections} client${connections === 1 ? '' : 's'}`,
    stream,
    connections,
    promptBytes,
  };
};
const SHORT = [trial(false, 1), trial(false, 16), trial(false, 64), trial(false, 16, LARGE_PROMPT), trial(true, 16)];
const FULL = [SMALL_PROMPT, LARGE_PROMPT].flatMap((prompt) =>
  [false, true].flatMap((stream) => [1, 16, 64].map((connections) => trial(stream, connections, prompt))),
);
const PACED = [16, 64];

const ALL_PEERS = options.full || options.goals;

/** Targets of one run, and their folder. */
interface Run {
  readonly stage: Stage;
  readonly folder: string;
}

const orderOf = ({ connections, ...body }: Trial) => ({
  body: bodyOf(body),
  connections,
  seconds: SECONDS,
  expectedStatus: 200,
});

/** Throws when the product returns no trace, for example because tracing is off. */
async function assertTracesKept({ stage }: Run): Promise<void> {
  const { origin, adminKey } = stage.product;
  const answer = await fetch(`${origin}/v1/traces`, { headers: { authorization: `Bearer ${adminKey}` } });
  const page: { readonly data?: readonly unknown[] } = JSON.parse(await answer.text());
  if ((page.data?.length ?? 0) === 0)
    throw new Error('The product stored no traces of the calls. Check that tracing is on.');
}

const upstreamCalls = async ({ stage }: Run): Promise<number> =>
  Number(await (await fetch(`${stage.upstreamOrigin}/calls`)).text());

async function floodWithBadKeys(run: Run): Promise<Rounds> {
  const { stage, folder } = run;
  const callsBefore = await upstreamCalls(run);
  const { product, koaHello } = stage;
  const badKeyTarget = { ...product, headers: { ...product.headers, authorization: 'Bearer sk-this-key-is-unknown' } };
  const order = orderOf(trial(false, 16));
  const rounds = { hello: [] as Round[], refused: [] as Round[] };
  for (let round = 0; round < Math.min(ROUNDS, 3); round += 1) {
    rounds.hello.push(await measured(koaHello, { ...order, url: koaHello.url, headers: koaHello.headers }, folder));
    const { url, headers } = badKeyTarget;
    rounds.refused.push(await measured(badKeyTarget, { ...order, url, headers, expectedStatus: 401 }, folder));
  }
  const reached = (await upstreamCalls(run)) - callsBefore;
  if (reached > 0) throw new Error(`${reached} calls with a bad key reached the upstream.`);
  return new Map([
    ['koa-hello', rounds.hello],
    ['lensgate', rounds.refused],
  ]);
}

async function warm({ stage, folder }: Run): Promise<void> {
  const targets: readonly (Target | null)[] = [
    ...stage.targets,
    stage.withoutAccounting,
    stage.nodeHttp,
    stage.portkeyAsShipped,
  ];
  for (const target of targets.filter((one) => one !== null)) {
    const { url, headers } = target;
    await load({ ...orderOf(trial(false, 16)), seconds: WARM_SECONDS, url, headers }, folder);
    await settle(target);
  }
}

async function runTrials({ stage, folder }: Run): Promise<ReadonlyMap<Trial, Rounds>> {
  const trials = new Map<Trial, Rounds>();
  for (const one of options.full ? FULL : SHORT) {
    const shipped = one.promptBytes === LARGE_PROMPT ? stage.portkeyAsShipped : null;
    const targets = shipped === null ? stage.targets : [...stage.targets, shipped];
    trials.set(one, await inTurn(targets, { order: orderOf(one), rounds: ROUNDS, folder }));
    console.log(table(ROUNDS_HEAD, rowsOf(one.title, trials.get(one) ?? new Map())));
  }
  return trials;
}

async function runPaced({ stage }: Run): Promise<ReadonlyMap<number, PacedRounds>> {
  const paced = new Map<number, PacedRounds>();
  if (stage.nodeHttp === null) return paced;
  const body = bodyOf({ stream: true, promptBytes: SMALL_PROMPT }, true);
  for (const connections of PACED) {
    const order = { body, connections, seconds: SECONDS, rounds: PACED_ROUNDS };
    paced.set(connections, await pacedInTurn([...stage.targets, stage.nodeHttp], order));
    console.log(table(PACED_HEAD, pacedRows(connections, paced.get(connections) ?? new Map())));
  }
  return paced;
}

async function runAccounting({ stage, folder }: Run): Promise<Rounds> {
  if (stage.withoutAccounting === null) return new Map();
  return inTurn([stage.product, stage.withoutAccounting], { order: orderOf(trial(false, 16)), rounds: ROUNDS, folder });
}

const ABOUT =
  'nginx, node-undici and lensgate check a bearer key. All targets forward a prompt of 0.4 kB (or 100 kB) to the same fake ' +
  'upstream (bare sockets, answers of 1.1 kB). `node-undici` also parses requests and answers, without accounting. ' +
  '`lensgate` runs as shipped: virtual key, budget, route, price, spend row and trace span of every call, stored in ' +
  'SQLite while the load runs. Answers/s, p50, p99 and RSS are medians of the rounds. CPU is the best round, which other ' +
  'work on the machine has disturbed least. `later` is CPU after the end of the load, for each answer (unfolding of calls, ' +
  'ADR 0035). The next target is loaded after that work has ended. Goals by CPU include it.';
const ABOUT_PACED =
  'Paced streams: one chunk every 10 ms with the time at which it was written. Delays are from that time to the receipt by ' +
  'the client. They are medians of the rounds, CPU is the best round, and counts are sums. In goals the delays of nginx are ' +
  'subtracted.';

async function measureRun(): Promise<RunFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
  const stage = await startStage(folder, { full: ALL_PEERS });
  const run: Run = { stage, folder };
  try {
    await warm(run);
    const trials = await runTrials(run);
    const paced = await runPaced(run);
    const accounting = await runAccounting(run);
    const flood = await floodWithBadKeys(run);
    await assertTracesKept(run);
    return { trials, paced, accounting, flood };
  } finally {
    await stage.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const figuresOf = ({ trials, accounting, flood }: RunFigures): (string | number)[][] => [
  ...[...trials].flatMap(([{ title }, rounds]) => rowsOf(title, rounds)),
  ...rowsOf(`JSON, 16 clients, with and without accounting (${NO_ACCOUNTING})`, accounting),
  ...rowsOf('bad key, 16 clients', flood),
];

const delaysOf = ({ paced }: RunFigures): (string | number)[][] =>
  [...paced].flatMap(([connections, rounds]) => pacedRows(connections, rounds));

const conditions = machine().join('\n');
const runs: RunFigures[] = [];
while (runs.length < RUNS) {
  const figures = await measureRun();
  runs.push(figures);
  console.log(table(ROUNDS_HEAD, figuresOf(figures)));
  console.log(table(GOALS_HEAD, goalRows([goalsOf(figures)])));
}
const last = runs.slice(-1);
const delays = last.flatMap(delaysOf);
const goals = table(GOALS_HEAD, goalRows(runs.map(goalsOf)));
console.log(goals);
const several = `${RUNS} runs, each with new processes. The table of goals has the figures of all runs; other tables of the whole run have those of the last one. A verdict holds when two thirds of the runs have it or a better one. `;
const text = [
  `## The gateway beside nginx, bare Node proxies${ALL_PEERS ? ' and Portkey' : ''}`,
  `Measured ${new Date().toISOString().slice(0, 10)}: ${RUNS > 1 ? several : ''}${ROUNDS} rounds of ${SECONDS} s per target and trial, but at most 3 of bad keys and paced streams. Warm-up of ${WARM_SECONDS} s, load by ${LOAD_TOOL}.`,
  conditions,
  ABOUT,
  table(ROUNDS_HEAD, last.flatMap(figuresOf)),
  delays.length === 0 ? '' : `${ABOUT_PACED}\n\n${table(PACED_HEAD, delays)}`,
  'Ratios are medians of the ratios of each round. A whole stream counts as one answer.',
  goals,
];
if (!options.dry) writePart('gateway', text.filter(Boolean).join('\n\n'));
