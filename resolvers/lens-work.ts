import { NotFound } from '../src/domain/errors.ts';
import { backoffMs, isHeld, type Job, type JobClaim } from '../src/domain/jobs/job.ts';
import type { ContentPage } from '../src/domain/lens/content.ts';
import type { Sample } from '../src/domain/lens/execution.ts';
import { versionWithFeedback } from '../src/domain/lens/feedback.ts';
import { mergeFindings } from '../src/domain/lens/finding.ts';
import { type Activity, isActive, type LensRun, type LensState, type RunHead } from '../src/domain/lens/lens.ts';
import type { Review } from '../src/domain/lens/review.ts';
import { withClaimedRun, withEndedRun, inStage } from '../src/domain/lens/schedule.ts';
import { criteriaOf } from '../src/domain/lens/settings.ts';
import { PROMPTS_VERSION } from '../src/domain/lens/prompts/prompts.ts';
import {
  type ClaimedRun,
  LEASE_MS,
  OwnershipLost,
  RUN_JOB,
  type RunClaim,
  type RunProgress,
  type RunResult,
} from '../src/domain/lens/worker.ts';
import { canAnyPay } from './operation/lens-models.ts';
import { assertResult, resultFault } from './operation/lens-result.ts';
import { lensWorker } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { sampleOf, contentPage } from './operation/lens-samples.ts';
import { workerOf, claimedRun, assertOwned } from './operation/lens-claims.ts';
import { queueDueRun } from './operation/lens-runs.ts';

/** Maximum number of reviews that a run stores. Older ones are dropped. */
const MAX_REVIEWS = 60;
/** Maximum number of activities of a run. */
const MAX_ACTIVITIES = 256;
/** Maximum number of runs of lost workers that one claim ends. */
const MAX_LOST_RUNS = 20;
/** Delay of a run when the key of the worker may not call the model, in ms. */
const DENIED_MS = 30_000;

const jobClaim = ({ runId, attempt }: RunClaim): JobClaim => ({ id: runId, attempt });

/** Hash of the criteria of a run, and of the version of the prompts. */
const criteriaKeyOf = ({ platform }: Scope<LensPlatform>, { settings }: LensRun): string =>
  platform.keyGenerator.hash(criteriaOf(settings, PROMPTS_VERSION));

/** Extends the lease of a claim and returns its run. Throws NotFound and OwnershipLost. */
async function extendRun(scope: Scope<LensPlatform>, claim: RunClaim): Promise<LensRun> {
  const run = await claimedRun(scope, claim);
  const job = await scope.platform.stores.jobs.extend(jobClaim(claim), scope.platform.clock.now(), LEASE_MS);
  if (job === null) throw new OwnershipLost();
  return run;
}

/** Changes the run of a claim. Throws NotFound, and OwnershipLost when the claim is no longer valid. */
async function changeRun(
  scope: Scope<LensPlatform>,
  claim: RunClaim,
  change: (state: LensState) => LensState,
): Promise<LensState> {
  const state = await scope.platform.stores.lenses.change(claim.lensId, (before) => {
    assertOwned(scope, before.run, claim);
    return change(before);
  });
  if (state === null) throw new NotFound('lens', claim.lensId, 'Lens not found');
  return state;
}

/** Ends runs whose workers were lost too often. */
async function endLostRuns(scope: Scope<LensPlatform>): Promise<void> {
  const { stores, clock, bus } = scope.platform;
  const error = 'Worker disconnected repeatedly';
  for (const job of await stores.jobs.exhausted(RUN_JOB, clock.now(), MAX_LOST_RUNS)) {
    const state = await stores.lenses.change(job.subject, (before) =>
      before.run.id === job.id ? withEndedRun(before, { status: 'failed', error }, clock.now()) : before,
    );
    await stores.jobs.markDead({ id: job.id, attempt: job.attempts }, error, clock.now());
    if (state !== null) bus.publish('lensRun', state.run);
  }
}

/** Whether the key of a worker may call the model of a run. */
async function mayPay(scope: Scope<LensPlatform>, { settings }: LensRun): Promise<boolean> {
  const { analysisKeyId } = workerOf(scope);
  if (analysisKeyId === null) return false;
  return canAnyPay(scope, await scope.platform.stores.keys.findMany([analysisKeyId]), settings.model);
}

/** Starts the run of a claimed job; null when the run has ended, was claimed again, or the worker cannot pay for it. */
async function startRun(scope: Scope<LensPlatform>, job: Job): Promise<ClaimedRun | null> {
  const { stores, clock, bus } = scope.platform;
  const claimFields = { attempts: job.attempts, workerId: workerOf(scope).id, leaseUntil: job.dueAt };
  const current = await stores.lenses.find(job.subject);
  const claim: JobClaim = { id: job.id, attempt: job.attempts };
  if (current === null || current.run.id !== job.id || !isActive(current.run)) {
    // The run has ended, but its process stopped before it ended the job.
    await stores.jobs.end(claim, { status: 'completed', error: '' }, clock.now());
    return null;
  }
  if (!(await mayPay(scope, current.run))) {
    const dueAt = new Date(clock.now().getTime() + DENIED_MS);
    await stores.jobs.retry(
      claim,
      { dueAt, error: 'The key of the worker may not call the model.', counts: false },
      clock.now(),
    );
    return null;
  }
  const state = await stores.lenses.change(job.subject, (before) =>
    before.run.id === job.id && isActive(before.run) ? withClaimedRun(before, claimFields, clock.now()) : before,
  );
  if (state === null || state.run.attempts !== job.attempts) return null;
  bus.publish('lensRun', state.run);
  return { lensId: job.subject, run: state.run, findings: state.findings };
}

/** Claims the run that has been due longest; null for none. If none is due, queues the run of a due schedule first. */
export const claimLensRun = operation({
  name: 'claimLensRun',
  access: lensWorker,
  async run(scope: Scope<LensPlatform>, _input: undefined): Promise<ClaimedRun | null> {
    const { stores, clock } = scope.platform;
    const { id, analysisKeyId } = workerOf(scope);
    const now = clock.now();
    await stores.lensWorkers.change(id, (worker) => ({ ...worker, lastSeen: now }));
    if (analysisKeyId === null) return null;
    await endLostRuns(scope);
    if (!(await stores.jobs.hasDue(RUN_JOB, now))) await queueDueRun(scope);
    const job = await stores.jobs.claim({ kind: RUN_JOB, workerId: id, now: clock.now(), leaseMs: LEASE_MS });
    return job === null ? null : startRun(scope, job);
  },
});

/** The sample of a run. It is chosen once: a worker that continues the run gets the same executions. */
export const chooseLensSample = operation({
  name: 'chooseLensSample',
  access: lensWorker,
  async run(scope: Scope<LensPlatform>, claim: RunClaim): Promise<Sample> {
    const run = await extendRun(scope, claim);
    if (run.sample !== null) return run.sample;
    const window = { startMs: new Date(run.start).getTime(), endMs: new Date(run.end).getTime() };
    const sample = await sampleOf(scope, run.settings, window);
    const state = await changeRun(scope, claim, (before) => ({
      ...before,
      run: { ...before.run, sample: before.run.sample ?? sample },
    }));
    return state.run.sample ?? sample;
  },
});

/** Stored reviews of the sample that used the criteria of the run. Reviews of traces that have changed are left out. */
export const listReusableReviews = operation({
  name: 'listReusableReviews',
  access: lensWorker,
  async run(scope: Scope<LensPlatform>, claim: RunClaim): Promise<readonly Review[]> {
    const run = await claimedRun(scope, claim);
    const executions = run.sample?.executions ?? [];
    const ids = executions.map(({ id }) => id);
    const found = await scope.platform.stores.lenses.reviews(claim.lensId, criteriaKeyOf(scope, run), ids);
    const versions = new Map(
      executions.map(({ id, contentVersion, metadata }) => [id, versionWithFeedback(contentVersion, metadata)]),
    );
    return found.filter(({ executionId, contentVersion }) => versions.get(executionId) === contentVersion);
  },
});

const isSampled = ({ sample }: LensRun, executionId: string): boolean =>
  sample?.executions.some(({ id }) => id === executionId) ?? false;

/** A page of the content of a sampled execution. Throws NotFound, OwnershipLost and InvalidInput. */
export const readSampledContent = operation({
  name: 'readSampledContent',
  access: lensWorker,
  async run(
    scope: Scope<LensPlatform>,
    request: RunClaim & { readonly executionId: string; readonly cursor: string | null; readonly offset: number },
  ): Promise<ContentPage> {
    const run = await claimedRun(scope, request);
    const page = isSampled(run, request.executionId) ? await contentPage(scope, request) : null;
    if (page === null) throw new NotFound('execution', request.executionId, "Execution is outside this job's sample");
    return page;
  },
});

/** Extends the lease of a claim. Throws NotFound and OwnershipLost. */
export const extendLensRun = operation({
  name: 'extendLensRun',
  access: lensWorker,
  async run(scope: Scope<LensPlatform>, claim: RunClaim): Promise<void> {
    await extendRun(scope, claim);
  },
});

/** A review without extraction and content version, as a run stores it. */
const withoutExtraction = (review: Review): Review => ({ ...review, extraction: null, contentVersion: '' });

/** The activities of a run after a report of one of them. Keeps the last 256. */
function withActivity(activities: readonly Activity[], activity: Activity | undefined): readonly Activity[] {
  if (activity === undefined) return activities;
  const others = activities.filter(({ id }) => id !== activity.id);
  return activity.finished ? others : [...others, activity].slice(-MAX_ACTIVITIES);
}

function withProgress(
  run: RunHead,
  { stage, coverage, reviews = [], reading, activities, activity }: RunProgress,
  now: Date,
): RunHead {
  // A worker that received no response sends its report again. A stored review is not added twice.
  const added = reviews.filter((one) => run.reviews.every(({ executionId }) => executionId !== one.executionId));
  const changed = {
    ...run,
    coverage: coverage ?? run.coverage,
    reviews: [...run.reviews, ...added.map(withoutExtraction)].slice(-MAX_REVIEWS),
    reviewed: run.reviewed + added.length,
    reading: reading ?? run.reading,
    activities: withActivity(activities ?? run.activities, activity),
  };
  return stage === undefined ? changed : inStage(changed, stage, now);
}

/** Stores the progress of a run, and new reviews for later runs. Throws NotFound, InvalidInput and OwnershipLost. */
export const reportLensProgress = operation({
  name: 'reportLensProgress',
  access: lensWorker,
  async run(
    scope: Scope<LensPlatform>,
    { claim, progress }: { readonly claim: RunClaim; readonly progress: RunProgress },
  ): Promise<void> {
    const { stores, clock, bus } = scope.platform;
    const run = await extendRun(scope, claim);
    const reviews = progress.reviews ?? [];
    const sampled = new Set(run.sample?.executions.map(({ id }) => id));
    if (reviews.some(({ executionId }) => !sampled.has(executionId)))
      throw resultFault('Review references a trace outside this job');
    const criteriaKey = criteriaKeyOf(scope, run);
    const isCacheable = (one: Review): boolean => !one.reused && one.extraction !== null && one.contentVersion !== '';
    const cached = reviews.filter(isCacheable).map((review) => ({ lensId: claim.lensId, criteriaKey, review }));
    await stores.lenses.keepReviews(cached);
    const head = await stores.lenses.changeRun(claim.lensId, claim.runId, (before) => {
      assertOwned(scope, before, claim);
      return withProgress(before, progress, clock.now());
    });
    if (head === null) throw new OwnershipLost();
    bus.publish('lensRun', { ...head, sample: run.sample, reviews: reviews.map(withoutExtraction) });
  },
});

/** Checks a result, merges its findings and ends the run. Throws NotFound, InvalidInput and OwnershipLost. */
export const completeLensRun = operation({
  name: 'completeLensRun',
  access: lensWorker,
  async run(
    scope: Scope<LensPlatform>,
    { claim, result }: { readonly claim: RunClaim; readonly result: RunResult },
  ): Promise<LensState> {
    const { stores, clock, ids, bus } = scope.platform;
    const known = await stores.lenses.find(claim.lensId);
    // A worker that did not receive the response sends the result again.
    if (known !== null && known.run.id === claim.runId && known.run.status === 'completed') return known;
    const run = await extendRun(scope, claim);
    await assertResult(scope, run, known?.findings ?? [], result);
    const now = clock.now();
    let changed: LensState['findings'] = [];
    const state = await changeRun(scope, claim, (before) => {
      const context = {
        runId: run.id,
        revision: run.revision,
        now: now.toISOString(),
        newId: () => ids.uuid(),
      };
      const merged = mergeFindings(before.findings, result.findings, context);
      ({ changed } = merged);
      return { ...withEndedRun(before, endingOf(before.run, result, merged.changed), now), findings: merged.findings };
    });
    await stores.jobs.end(
      jobClaim(claim),
      { status: state.run.status === 'failed' ? 'failed' : 'completed', error: result.error },
      now,
    );
    scope.platform.claimedRuns.drop(claim);
    bus.publish('lensRun', { ...state.run, reviews: [] });
    for (const finding of changed) bus.publish('finding', { lensId: claim.lensId, finding });
    return state;
  },
});

/** Final state of a run: failed when it has an error and no usable result. */
function endingOf(run: LensRun, result: RunResult, changed: LensState['findings']) {
  const { assessments, coverage, error, reviewVersions } = result;
  const isUsable = error === '' || changed.length > 0 || assessments.some(({ cannotAssess }) => !cannotAssess);
  const hasNoCoverage = Object.values(coverage).every((count) => count === 0);
  const sampled = new Set(run.sample?.executions.map(({ id }) => id));
  const sampledFindings = changed.map((finding) => ({
    ...finding,
    evidence: finding.evidence.filter(({ executionId }) => sampled.has(executionId)),
    occurrences: finding.occurrences.filter((id) => sampled.has(id)),
  }));
  return {
    status: isUsable ? 'completed' : 'failed',
    error,
    assessments,
    reviewVersions,
    coverage: error !== '' && hasNoCoverage ? run.coverage : coverage,
    findings: sampledFindings,
  } as const;
}

/** Requeues a run. `failure` delays it, or ends it after the last attempt. Without `failure`, no attempt is counted. */
export const releaseLensRun = operation({
  name: 'releaseLensRun',
  access: lensWorker,
  async run(
    scope: Scope<LensPlatform>,
    { claim, failure }: { readonly claim: RunClaim; readonly failure: string | null },
  ): Promise<void> {
    const { stores, clock, bus } = scope.platform;
    const now = clock.now();
    const [job] = await stores.jobs.findMany([claim.runId]);
    if (job === undefined || !isHeld(job, now) || job.attempts !== claim.attempt) return;
    const dueAt = new Date(now.getTime() + (failure === null ? 0 : backoffMs(job.attempts)));
    const error = failure ?? '';
    const returned = await stores.jobs.retry(jobClaim(claim), { dueAt, error, counts: failure !== null }, now);
    if (returned?.status !== 'dead') return;
    const state = await stores.lenses.change(claim.lensId, (before) =>
      before.run.id === claim.runId ? withEndedRun(before, { status: 'failed', error }, now) : before,
    );
    if (state !== null) bus.publish('lensRun', state.run);
  },
});
