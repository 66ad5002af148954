import type { Clock } from '../../clock.ts';
import { evictOldest } from '../../evict-oldest.ts';
import { inParallel } from '../../in-parallel.ts';
import type { ContentPart } from '../content.ts';
import type { Execution, Sample } from '../execution.ts';
import { versionWithFeedback } from '../feedback.ts';
import type { FindingDraft } from '../finding.ts';
import type { Activity, LensRun } from '../lens.ts';
import type { Assessment, Review } from '../review.ts';
import { CHECKING_STAGE, GROUPING_STAGE, READING_STAGE } from '../schedule.ts';
import { concurrencyOf } from '../settings.ts';
import type { ClaimedRun, LensBackend, RunClaim } from '../worker.ts';
import { type Analyst, createAnalyst } from './analyst.ts';
import { type Excerpt, examine } from './examining.ts';
import { type Candidate, groupSightings, sightingsOf } from './grouping.ts';
import { createReporter, type Reporter } from './progress.ts';
import { judgeExecution, type ReviewInput, reviewOf } from './reviewing.ts';

/** Maximum number of pages of content that are read of one execution. */
const MAX_PAGES = 25;
/** Capacity of the cache of contents, in executions. */
const MAX_CACHED_CONTENTS = 64;

interface RunContext {
  readonly backend: LensBackend;
  readonly claim: RunClaim;
  readonly claimed: ClaimedRun;
  readonly analyst: Analyst;
  readonly report: Reporter;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The spans of an execution, of at most `MAX_PAGES` pages. */
async function contentOf({ backend, claim, signal }: RunContext, execution: Execution): Promise<ReviewInput> {
  const parts: ContentPart[] = [];
  let cursor: string | null = null;
  let contentVersion = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const read = await backend.content(claim, execution.id, cursor, signal);
    parts.push(...read.parts);
    ({ contentVersion } = read);
    cursor = read.nextCursor;
    if (cursor === null) break;
  }
  const version = versionWithFeedback(contentVersion, execution.metadata);
  return { execution, parts, partial: cursor !== null, contentVersion: version };
}

interface Screening {
  readonly reviews: readonly Review[];
  readonly failures: readonly string[];
}

/** Reviews the sampled executions; cached reviews of unchanged executions are used again. */
async function screen(context: RunContext, { executions }: Sample): Promise<Screening> {
  const { backend, claim, claimed, report, analyst, clock, signal } = context;
  const { settings } = claimed.run;
  const cachedReviews = new Map((await backend.reviews(claim, signal)).map((review) => [review.executionId, review]));
  const reviews = new Map<string, Review>();
  const failures: string[] = [];
  let isLimitUsedUp = false;
  report.count({ reusable: cachedReviews.size });

  function addReview(review: Review): void {
    reviews.set(review.executionId, review);
    report.add('screened');
    if (review.partial) report.add('partial');
    if (review.cannotAssess) report.add('unassessable');
    if (review.reused) report.add('reused');
    report.reviewed(review);
  }

  for (const { id } of executions) {
    const review = cachedReviews.get(id);
    if (review !== undefined) addReview({ ...review, reused: true });
  }
  const fresh = executions.filter(({ id }) => !cachedReviews.has(id));
  await inParallel(fresh, concurrencyOf(settings), async (execution) => {
    signal.throwIfAborted();
    if (isLimitUsedUp) return;
    const began = clock.monotonicMs();
    const startedAt = clock.now().toISOString();
    const reading = { executionId: execution.id, traceId: execution.traceId, agent: execution.agent, startedAt };
    report.reading(reading, false);
    const reviewed = await contentOf(context, execution);
    const judgement = await judgeExecution(reviewed, { settings, findings: claimed.findings, analyst });
    report.reading(reading, true);
    if (judgement.failure !== null) failures.push(judgement.failure);
    if (judgement.final) isLimitUsedUp = true;
    if (judgement.extraction === null) return report.add('failedTasks');
    const at = clock.now().toISOString();
    addReview(reviewOf(reviewed, judgement, { model: settings.model, durationMs: clock.monotonicMs() - began, at }));
  });
  await report.flush();
  // In the order of the sample, not of the answers.
  return { reviews: executions.flatMap(({ id }) => reviews.get(id) ?? []), failures };
}

/** Limits of an activity: length of its id in characters, and number of its executions. */
const MAX_ID_CHARACTERS = 200;
const MAX_SHOWN_EXECUTIONS = 20;

const activityOf = (
  phase: Activity['phase'],
  label: string,
  executionIds: readonly string[],
  clock: Clock,
): Activity => ({
  id: `${phase}:${label}`.slice(0, MAX_ID_CHARACTERS),
  phase,
  label,
  executionIds: executionIds.slice(0, MAX_SHOWN_EXECUTIONS),
  startedAt: clock.now().toISOString(),
  operations: 0,
  toolCalls: 0,
  finished: false,
});

/** Loads contents through a cache, so that candidates with the same executions read them once. */
function createLoader(context: RunContext, { executions }: Sample): (id: string) => Promise<Excerpt> {
  const byId = new Map(executions.map((execution) => [execution.id, execution]));
  const loaded = new Map<string, Promise<Excerpt>>();
  return (id) => {
    const cached = loaded.get(id);
    if (cached !== undefined) return cached;
    const execution = byId.get(id);
    const excerpt =
      execution === undefined
        ? Promise.resolve({ executionId: id, parts: [] })
        : contentOf(context, execution).then(({ parts }) => ({ executionId: id, parts }));
    loaded.set(id, excerpt);
    evictOldest(loaded, MAX_CACHED_CONTENTS);
    return excerpt;
  };
}

/** Examines the candidates. Drafts are in the order of the candidates. */
async function examineAll(
  context: RunContext,
  sample: Sample,
  candidates: readonly Candidate[],
  reviews: readonly Review[],
) {
  const { claimed, report, analyst, clock, signal } = context;
  const load = createLoader(context, sample);
  const drafts: (FindingDraft | null)[] = candidates.map(() => null);
  const failures: string[] = [];
  let isLimitUsedUp = false;
  await inParallel([...candidates.entries()], concurrencyOf(claimed.run.settings), async ([index, candidate]) => {
    signal.throwIfAborted();
    if (isLimitUsedUp) return;
    const supporting = new Set(candidate.sightings.map(({ executionId }) => executionId));
    const others = reviews.flatMap(({ executionId }) => (supporting.has(executionId) ? [] : [executionId]));
    const activity = activityOf('investigate', candidate.title, [...supporting], clock);
    report.activity(activity);
    const examined = await examine(analyst, { candidate, findings: claimed.findings, load, others });
    report.activity({ ...activity, finished: true });
    if (examined.draft !== null) {
      report.add('investigated');
      drafts[index] = examined.draft;
      return;
    }
    isLimitUsedUp ||= examined.final;
    if (examined.failure === null) {
      report.add('investigated');
      report.add('inconclusive');
      return;
    }
    failures.push(examined.failure);
    report.add('failedTasks');
  });
  return { drafts: drafts.filter((draft) => draft !== null), failures };
}

function assessmentOf({ executionId, extraction, cannotAssess }: Review): Assessment {
  const checksOf = (kind: 'issue' | 'pattern'): readonly string[] => [
    ...new Set((extraction?.observations ?? []).flatMap((one) => (one.kind === kind ? [one.checkId] : []))),
  ];
  return { executionId, issueChecks: checksOf('issue'), patternChecks: checksOf('pattern'), cannotAssess };
}

/** At most three distinct failures, as one text. */
const errorOf = (failures: readonly string[]): string => [...new Set(failures)].slice(0, 3).join(' ');

/**
 * Runs one investigation to its result: choose executions, review each, group the observations, examine the groups, and
 * send the result. A failed model call becomes an error text, and the run continues. When a limit, such as the budget,
 * is used up, the run sends the results so far. Other failures of the backend are thrown, for example OwnershipLost. An
 * abort throws the reason of the signal.
 */
export async function investigate(
  claimed: ClaimedRun,
  { backend, clock, signal }: Pick<RunContext, 'backend' | 'clock' | 'signal'>,
): Promise<void> {
  const { run }: { readonly run: LensRun } = claimed;
  const claim: RunClaim = { lensId: claimed.lensId, runId: run.id, attempt: run.attempts };
  const report = createReporter(backend, claim, signal);
  const analyst = createAnalyst(backend, claim, signal);
  const context: RunContext = { backend, claim, claimed, analyst, report, clock, signal };
  const sample = await backend.sample(claim, signal);
  report.count({ eligible: sample.eligible, selected: sample.selected });
  report.stage(READING_STAGE);
  const { reviews, failures } = await screen(context, sample);
  report.stage(GROUPING_STAGE);
  const grouping = await groupSightings(sightingsOf(reviews), analyst, (groupingBatches, groupedBatches) =>
    report.count({ groupingBatches, groupedBatches }),
  );
  report.count({ candidates: grouping.candidates.length });
  if (grouping.candidates.length > 0) report.stage(CHECKING_STAGE);
  const wanted = grouping.final ? [] : grouping.candidates;
  const examined = await examineAll(context, sample, wanted, reviews);
  await report.flush();
  const reviewedIds = new Set(reviews.map(({ executionId }) => executionId));
  const unreviewed = sample.executions.flatMap(({ id }): readonly Assessment[] =>
    reviewedIds.has(id) ? [] : [{ executionId: id, issueChecks: [], patternChecks: [], cannotAssess: true }],
  );
  await backend.result(
    claim,
    {
      assessments: [...reviews.map(assessmentOf), ...unreviewed],
      findings: examined.drafts,
      coverage: report.coverage(),
      error: errorOf([...failures, ...grouping.failures, ...examined.failures]),
      reviewVersions: reviews.map(({ executionId, contentVersion }) => ({ executionId, contentVersion })),
    },
    signal,
  );
}
