// Quality and speed of lenses over synthetic runs with planted failures. Writes its part of bench/RESULTS.md.
//   npm run bench:lens -- [--runs 240] [--seed 1] [--traces 1000] [--lenses 1000] [--dry]
// By default the reviewer is the script bench/lens/judge.ts. With a model as the reviewer, only quality is measured.
// Name a model of a configuration file of the product, by default its first one:
// `--config config.yaml [--model reviewer]`. Or name any upstream model:
// `--upstream openai/gpt-4o-mini --key-env OPENAI_API_KEY [--api-base URL]`. `--traces 0` and `--lenses 0` skip the
// measurements of speed.
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { readExecutionId } from '../src/domain/lens/execution.ts';
import { WORKER_PROTOCOL } from '../src/domain/lens/worker.ts';
import { VERSION } from '../src/domain/version.ts';
import { judgeModel, startJudge } from './lens/judge-server.ts';
import { CHECKS, checkIdOf, FAILURES, syntheticRuns } from './lens/runs.ts';
import { type BenchServer, startServer, untilEnded } from './lens/server.ts';
import { median } from './measure.ts';
import { goal, table, writePart } from './report.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '240' },
    seed: { type: 'string', default: '1' },
    traces: { type: 'string', default: '1000' },
    lenses: { type: 'string', default: '1000' },
    config: { type: 'string' },
    model: { type: 'string' },
    upstream: { type: 'string' },
    'api-base': { type: 'string' },
    'key-env': { type: 'string', default: 'OPENAI_API_KEY' },
    dry: { type: 'boolean', default: false },
  },
});

/** Delay of an answer of the scripted reviewer in measurements of speed, in ms. */
const JUDGE_MS = 5;
const CONCURRENCY = 16;
/** Number of measured claims. With each claim, a worker takes the run of one due lens. */
const CLAIMS = 21;

interface Evidence {
  readonly execution_id: string;
  readonly span_id: string;
  readonly quote: string;
}

interface Lens {
  readonly id: string;
  readonly spent: number;
  readonly jobs: readonly {
    readonly status: string;
    readonly error: string;
    readonly cost: number;
    readonly coverage: Readonly<Record<string, number>>;
  }[];
  readonly findings: readonly {
    readonly check_id: string;
    readonly occurrences: readonly string[];
    readonly evidence: readonly Evidence[];
  }[];
}

const checks = FAILURES.map((failure) => ({ id: checkIdOf(failure), instruction: CHECKS[failure] }));
const settings = (model: string, more: object = {}) => ({ name: 'bench', model, checks, enabled: false, ...more });

/** Number of quotes in findings, and number of those that occur literally in their span. */
async function evidenceOf(server: BenchServer, { id, findings }: Lens) {
  const all = findings.flatMap(({ evidence }) => evidence);
  let valid = 0;
  for (const { execution_id: execution, span_id: span, quote } of all) {
    const page = await server.send<{
      readonly parts: readonly { readonly span_id: string; readonly content: string }[];
    }>('GET', `/lens/${id}/executions/${encodeURIComponent(execution)}`);
    if (page.parts.some((part) => part.span_id === span && part.content.includes(quote))) valid += 1;
  }
  return { all: all.length, valid };
}

const percent = (part: number, whole: number): number => (whole === 0 ? 100 : (part * 100) / whole);

/** Runs one lens over synthetic agent runs and compares its findings with the planted failures. */
async function quality(server: BenchServer, model: string) {
  const runs = syntheticRuns(Number(options.runs), Number(options.seed));
  await server.ingest(runs);
  const { id } = await server.send<Lens>('POST', '/lens', settings(model));
  const lens = await untilEnded<Lens>(server, id);
  const [job] = lens.jobs;
  if (job?.status !== 'completed') throw new Error(`The lens run ended as ${job?.status}: ${job?.error}`);
  const planted = new Set(
    runs.flatMap(({ traceId, failure }) => (failure === null ? [] : [`${traceId} ${checkIdOf(failure)}`])),
  );
  const reported = new Set(
    lens.findings.flatMap(({ check_id: check, occurrences }) =>
      occurrences.map((execution) => `${readExecutionId(execution)?.traceId} ${check}`),
    ),
  );
  const hits = [...reported].filter((one) => planted.has(one)).length;
  const kinds = FAILURES.map((failure) => {
    const ofKind = (set: ReadonlySet<string>) => [...set].filter((one) => one.endsWith(` ${checkIdOf(failure)}`));
    const found = ofKind(reported);
    const right = found.filter((one) => planted.has(one)).length;
    return [failure, ofKind(planted).length, found.length, right] as const;
  });
  const evidence = await evidenceOf(server, lens);
  return {
    runs: runs.length,
    screened: job.coverage['screened'] ?? 0,
    precision: percent(hits, reported.size),
    recall: percent(hits, planted.size),
    evidence,
    costPerRun: job.cost / runs.length,
    findings: lens.findings.length,
    kinds,
  };
}

/** Time and memory of a lens run over many traces. */
async function speed(): Promise<{ readonly seconds: number; readonly peakMb: number } | null> {
  const count = Number(options.traces);
  if (count === 0) return null;
  const judge = await startJudge({ delayMs: JUDGE_MS });
  const server = await startServer([judgeModel(judge.base)], 1);
  try {
    await server.ingest(syntheticRuns(count, Number(options.seed) + 1));
    const began = performance.now();
    const { id } = await server.send<Lens>('POST', '/lens', settings('judge', { concurrency: CONCURRENCY }));
    const lens = await untilEnded<Lens>(server, id);
    const seconds = (performance.now() - began) / 1_000;
    const screened = lens.jobs[0]?.coverage['screened'];
    if (screened !== count) throw new Error(`${screened} of ${count} traces were reviewed: ${lens.jobs[0]?.error}`);
    return { seconds, peakMb: server.peakMb() };
  } finally {
    await server.stop();
    await judge.stop();
  }
}

/** Median time in which a worker claims a run while many lenses are due, in ms. */
async function claims(): Promise<number | null> {
  const count = Number(options.lenses);
  if (count === 0) return null;
  const judge = await startJudge();
  const server = await startServer([judgeModel(judge.base)], 0);
  try {
    const { token: payer } = await server.send<{ readonly token: string }>('POST', '/key/generate', {});
    const { token } = await server.send<{ readonly token: string }>('POST', '/lens/workers/register', {
      analysis_key_id: payer,
    });
    for (let at = 0; at < count; at += 1) await server.send('POST', '/lens', settings('judge', { enabled: true }));
    const times: number[] = [];
    for (let at = 0; at < Math.min(CLAIMS, count); at += 1) {
      const began = performance.now();
      const path = `/lens/worker/claim?protocol_version=${WORKER_PROTOCOL}&worker_release=${VERSION}`;
      const claimed = await server.send<unknown>('POST', path, {}, token);
      times.push(performance.now() - began);
      if (claimed === null) throw new Error('A claim found no run.');
    }
    return median(times);
  } finally {
    await server.stop();
    await judge.stop();
  }
}

interface Reviewer {
  /** Name of the reviewer in the result. */
  readonly title: string;
  /** `model_list` of the server. */
  readonly models: readonly object[];
  /** Public name of the reviewing model. */
  readonly name: string;
}

/** The reviewer that the options name; null for the scripted one. */
function configuredReviewer(): Reviewer | null {
  const { upstream, config, 'api-base': base } = options;
  if (config !== undefined) {
    const { model_list: models = [] } = parse(readFileSync(config, 'utf8')) as {
      readonly model_list?: readonly { readonly model_name: string }[];
    };
    const name = options.model ?? models[0]?.model_name;
    if (name === undefined || !models.some((model) => model.model_name === name))
      throw new Error(`${config}: \`model_list\` has no model ${name ?? ''}`);
    return { title: `${name} of ${config}`, models, name };
  }
  if (upstream === undefined) return null;
  const params = {
    model: upstream,
    api_key: `os.environ/${options['key-env']}`,
    ...(base === undefined ? {} : { api_base: base }),
  };
  return { title: upstream, models: [{ model_name: 'reviewer', litellm_params: params }], name: 'reviewer' };
}

/** Quality of a lens run with the given reviewer; null is the scripted one. */
async function judgedQuality(reviewer: Reviewer | null) {
  if (reviewer === null) {
    const judge = await startJudge();
    const server = await startServer([judgeModel(judge.base)], 1);
    try {
      return await quality(server, 'judge');
    } finally {
      await server.stop();
      await judge.stop();
    }
  }
  const server = await startServer(reviewer.models, 1);
  try {
    return await quality(server, reviewer.name);
  } finally {
    await server.stop();
  }
}

const reviewer = configuredReviewer();
const result = await judgedQuality(reviewer);
const timed = reviewer === null ? await speed() : null;
const claimMs = reviewer === null ? await claims() : null;

const validity = percent(result.evidence.valid, result.evidence.all);
const goals = [
  goal('Precision', ['90 %', '100 %'], `${result.precision.toFixed(1)} %`, [
    result.precision >= 90,
    result.precision >= 100,
  ]),
  goal('Recall', ['90 %', '100 %'], `${result.recall.toFixed(1)} %`, [result.recall >= 90, result.recall >= 100]),
  goal('Quotes that are in their span', ['100 %', '100 %'], `${validity.toFixed(1)} %`, [
    validity >= 100,
    validity >= 100,
  ]),
  ...(timed === null
    ? []
    : [
        goal(
          `${options.traces} traces, concurrency ${CONCURRENCY}`,
          ['60 s', '30 s'],
          `${timed.seconds.toFixed(1)} s`,
          [timed.seconds < 60, timed.seconds < 30],
        ),
        goal('Peak memory of the server', ['300 MB', '250 MB'], `${timed.peakMb.toFixed(0)} MB`, [
          timed.peakMb < 300,
          timed.peakMb < 250,
        ]),
      ]),
  ...(claimMs === null
    ? []
    : [
        goal(
          `claiming a run while ${options.lenses} lenses are due, median`,
          ['20 ms', '10 ms'],
          `${claimMs.toFixed(1)} ms`,
          [claimMs < 20, claimMs < 10],
        ),
      ]),
];

const text = `## Lenses: planted failures found, and speed

Measured with Node ${process.versions.node} on ${availableParallelism()} cores without pinning; load average ${loadavg()[0]?.toFixed(1)}. Reviewer: ${reviewer?.title ?? 'scripted (bench/lens/judge.ts)'}. ${result.runs} executions, ${result.screened} reviewed, ${result.findings} findings,
${result.evidence.all} quotes, ${result.costPerRun.toFixed(6)} USD per execution. The scripted reviewer knows only what the prompts show it. Its figures test the pipeline,
not a model.

${table(['Goal', 'Required', 'Desired', 'Measured', 'Verdict'], goals)}

${table(['Failure', 'Planted', 'Reported', 'Right'], result.kinds)}
`;
// The stored figures are those of the scripted reviewer.
if (options.dry || reviewer !== null) console.log(text);
else writePart('lens', text);
if (validity < 100) process.exitCode = 1;
