import type { Caller } from '../src/domain/caller.ts';
import { withTags } from '../src/domain/calls/call-labels.ts';
import type { MadeDecision } from '../src/domain/decisions/decision.ts';
import { Unavailable } from '../src/domain/errors.ts';
import { backoffMs, claimOf, type Job } from '../src/domain/jobs/job.ts';
import { type ContentPart, contentPart, PAGE_PARTS } from '../src/domain/lens/content.ts';
import { executionIdOf } from '../src/domain/lens/execution.ts';
import {
  isSignalCall,
  areQuestionsDue,
  type SignalConfig,
  signalCallTrace,
  signalRowId,
  type TraceSignals,
} from '../src/domain/lens/signals.ts';
import { transcriptOf } from '../src/domain/lens/transcript.ts';
import { newStamps } from '../src/domain/row-store.ts';
import { NO_TRACE_FILTERS, traceRankOf, type TraceSearch } from '../src/domain/traces/trace-search.ts';
import { INTERNAL_TAG } from '../src/domain/traces/trace-labels.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import { runIdOfTrace } from '../src/domain/lens/lens.ts';
import { decideTyped } from './decisions.ts';
import { openBuiltInWorker } from './lens-workers.ts';
import { system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { DecisionPlatform, KeyPlatform, LensPlatform } from './operation/platform.ts';
import { changeOrAdd } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import { payerOf } from './operation/lens-models.ts';
import { configKeyOf, signalConfig } from './operation/lens-signals.ts';

/** Platform of signals: questions with a yes or no answer that a model answers about each trace. */
type SignalPlatform = LensPlatform & KeyPlatform & DecisionPlatform;

/** Kind of the jobs that classify new traces. */
const SIGNAL_JOB = 'lens-signals';
const WORKER = 'lens-signals';
/** Lease of a job, in ms: longer than the slowest pass, which is one run of `classifyNewTraces`. */
const LEASE_MS = 600_000;
const MAX_ATTEMPTS = 3;

/** Window of a pass, and how long after the end of a trace late spans are expected; both in ms. */
const WINDOW_MS = 86_400_000;
const SETTLE_MS = 15_000;
/** Number of summaries of one read, and maximum number of reads of a pass. */
const PAGE_SIZE = 100;
const MAX_PAGES = 10;
/** Maximum number of lost jobs that one pass ends. A lost job has no attempts left. */
const MAX_LOST_JOBS = 10;
/** Maximum number of traces of a pass, and of traces that are classified concurrently. */
const MAX_TRACES = 50;
const CONCURRENCY = 8;
/** Deadline of one decision, in ms. */
const DECISION_MS = 60_000;
/** Maximum number of pages of a trace's content that the model reads. */
const MAX_CONTENT_PAGES = 3;

/** Labels of the calls that classify traces. */
const SIGNAL_LABELS = withTags(undefined, [INTERNAL_TAG]);

const ALL_OWNERS = { kind: 'all' } as const;

/**
 * Traces of the window that have settled and for which `areQuestionsDue` holds, the newest first. Traces of the calls
 * that signals and lens runs send are left out. `configKey` identifies model and questions.
 */
async function unclassifiedTraces(scope: Scope<SignalPlatform>, configKey: string): Promise<readonly TraceSummary[]> {
  const { stores, clock, records } = scope.platform;
  await records.readable();
  const nowMs = clock.now().getTime();
  const settledNs = BigInt(nowMs - SETTLE_MS) * 1_000_000n;
  const found: TraceSummary[] = [];
  let after: TraceSearch['after'] = null;
  for (let page = 0; page < MAX_PAGES && found.length < MAX_TRACES; page += 1) {
    const window = { startMs: nowMs - WINDOW_MS, endMs: nowMs };
    const search = { ...window, filters: NO_TRACE_FILTERS, order: 'start', after } as const;
    const summaries = await stores.traces.searchSummaries(ALL_OWNERS, search, PAGE_SIZE);
    const rows = await stores.traceSignals.all({ ids: summaries.map(signalRowId), traceBeforeMs: null });
    const rowById = new Map(rows.map((row) => [row.id, row]));
    const lensRunIds = await stores.lenses.runIdsAmong(summaries.map(({ traceId }) => runIdOfTrace(traceId)));
    found.push(
      ...summaries.filter(
        (summary) =>
          summary.endNs <= settledNs &&
          !isSignalCall(summary.traceId) &&
          !lensRunIds.has(runIdOfTrace(summary.traceId)) &&
          areQuestionsDue(summary, rowById.get(signalRowId(summary)), configKey, nowMs),
      ),
    );
    const last = summaries.at(-1);
    if (last === undefined || summaries.length < PAGE_SIZE) break;
    after = { rank: traceRankOf(last, 'start'), traceRef: last.traceRef };
  }
  return found.slice(0, MAX_TRACES);
}

/** Saves the classification of a trace; replaces an earlier one. */
async function save(scope: Scope<SignalPlatform>, row: TraceSignals): Promise<void> {
  await changeOrAdd(scope.platform.stores.traceSignals, row, ({ createdAt, createdBy }) => ({
    ...row,
    createdAt,
    createdBy,
  }));
}

/** The input preview and the first parts of the content of a trace. */
async function readTranscript({ platform }: Scope<SignalPlatform>, trace: TraceSummary) {
  const { traces } = platform.stores;
  const heads = (await traces.listSpans([trace])).get(trace.traceRef) ?? [];
  const id = executionIdOf('', trace);
  const parts: ContentPart[] = [];
  for (let page = 0; page < MAX_CONTENT_PAGES && page * PAGE_PARTS < heads.length; page += 1) {
    const ids = heads.slice(page * PAGE_PARTS, (page + 1) * PAGE_PARTS).map(({ spanId }) => spanId);
    for (const span of await traces.findSpans(trace, ids)) parts.push(contentPart(id, span, 0));
  }
  return transcriptOf(trace.inputPreview, parts);
}

/** The probability of a yes for each signal. Throws Unavailable when an answer is missing. */
function scoresOf({ questions, decision }: MadeDecision): TraceSignals['scores'] {
  return questions.map(({ name }, at) => {
    const answer = decision.answers[at];
    if (name === null || answer?.kind !== 'predicate')
      throw new Unavailable(`The model did not answer the question ${name ?? at}.`, null);
    return { signalId: name, score: answer.probability };
  });
}

/** Sends the questions about one trace to the model. */
async function scoresFor(
  scope: Scope<SignalPlatform>,
  trace: TraceSummary,
  { model, signals }: SignalConfig,
  payer: Caller,
): Promise<TraceSignals['scores']> {
  const abortSignal = AbortSignal.any([scope.signal, AbortSignal.timeout(DECISION_MS)]);
  const { ids } = scope.platform;
  const decision = await decideTyped(
    { ...scope, caller: payer, signal: abortSignal },
    {
      model,
      input: JSON.stringify(await readTranscript(scope, trace)),
      questions: signals.map(({ id, question }) => ({ type: 'predicate', name: id, instructions: question })),
      parameters: {},
      callId: null,
      parent: { traceId: signalCallTrace(ids.spanId()), spanId: null },
      labels: SIGNAL_LABELS,
      // A stored copy of the trace's text would remain after a redaction of the trace.
      omitContent: true,
    },
  );
  return scoresOf(decision);
}

/** Classifies one trace. A failure is stored; a later pass retries it. */
async function classify(
  scope: Scope<SignalPlatform>,
  trace: TraceSummary,
  { config, configKey, payer }: { readonly config: SignalConfig; readonly configKey: string; readonly payer: Caller },
): Promise<void> {
  const row: TraceSignals = {
    ...newStamps(authored(scope)),
    id: signalRowId(trace),
    traceId: trace.traceId,
    traceRef: trace.traceRef,
    configKey,
    spanCount: trace.spanCount,
    status: 'pending',
    model: config.model,
    scores: [],
    traceStartMs: Number(trace.startNs / 1_000_000n),
    askedMs: scope.platform.clock.now().getTime(),
  };
  await save(scope, row);
  let done: Pick<TraceSignals, 'status' | 'scores'>;
  try {
    done = { status: 'classified', scores: await scoresFor(scope, trace, config, payer) };
  } catch (error) {
    // The row stays pending at a shutdown; a later pass retries it.
    if (scope.signal.aborted) throw error;
    done = { status: 'failed', scores: [] };
  }
  await save(scope, { ...row, ...done, askedMs: scope.platform.clock.now().getTime() });
}

/** Maximum number of running jobs to read. More than one is running only when leases have expired. */
const MAX_RUNNING_JOBS = 10;

/** Claims a job, and adds one when none is due. Null while another process has a claim. */
async function claimedJob({ platform }: Scope<SignalPlatform>): Promise<Job | null> {
  const { jobs } = platform.stores;
  const { clock, ids } = platform;
  const now = clock.now();
  for (const lost of await jobs.exhausted(SIGNAL_JOB, now, MAX_LOST_JOBS))
    await jobs.markDead(claimOf(lost), 'Its process was lost repeatedly.', now);
  const running = await jobs.list({ kind: SIGNAL_JOB, status: 'running' }, MAX_RUNNING_JOBS);
  // `dueAt` of a running job is the end of its lease.
  if (running.some(({ dueAt }) => dueAt > now)) return null;
  const wanted = { kind: SIGNAL_JOB, workerId: WORKER, now, leaseMs: LEASE_MS };
  const existing = await jobs.claim(wanted);
  if (existing !== null) return existing;
  await jobs.add({ id: ids.uuid(), kind: SIGNAL_JOB, subject: 'traces', dueAt: now, mostAttempts: MAX_ATTEMPTS }, now);
  return jobs.claim(wanted);
}

/** Classifies traces, at most `CONCURRENCY` at the same time. */
async function classifyAll(
  scope: Scope<SignalPlatform>,
  traces: readonly TraceSummary[],
  context: Parameters<typeof classify>[2],
): Promise<void> {
  // One iterator for all loops below: each loop takes the next trace.
  const remaining = traces.values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const trace of remaining) {
        scope.signal.throwIfAborted();
        await classify(scope, trace, context);
      }
    }),
  );
}

/**
 * Classifies at most `MAX_TRACES` traces whose questions are due, as a job that one process claims. Resolves to the
 * number of traces. The calls are billed to the key of the built-in worker.
 */
export const classifyNewTraces = operation({
  name: 'classifyNewTraces',
  access: system,
  async run(scope: Scope<SignalPlatform>, _input: undefined): Promise<number> {
    const config = await signalConfig(scope);
    if (config.model === '' || config.signals.length === 0) return 0;
    const configKey = configKeyOf(scope, config);
    if ((await unclassifiedTraces(scope, configKey)).length === 0) return 0;
    const worker = await openBuiltInWorker(scope, undefined);
    const job = worker === null ? null : await claimedJob(scope);
    if (worker === null || job === null) return 0;
    const { clock, stores } = scope.platform;
    try {
      const payer = await payerOf({ ...scope, caller: worker });
      // Read again under the claim: another process may have classified some since the first read.
      const traces = await unclassifiedTraces(scope, configKey);
      await classifyAll(scope, traces, { config, configKey, payer });
      await stores.jobs.end(claimOf(job), { status: 'completed', error: '' }, clock.now());
      return traces.length;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const dueAt = new Date(clock.now().getTime() + backoffMs(job.attempts));
      await stores.jobs.retry(claimOf(job), { dueAt, error: text, counts: !scope.signal.aborted }, clock.now());
      throw error;
    }
  },
});
