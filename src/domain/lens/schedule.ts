import { ZERO_USD } from '../money.ts';
import { isActive, type Lens, type LensRun, type LensState, NO_COVERAGE, type RunHead, type RunStep } from './lens.ts';
import { assertLensInput, assertLookback, assertWindow, criteriaOf, type LensSettings } from './settings.ts';

/**
 * Traces that began less than this time ago, in ms, may still receive spans. Windows without explicit times end this
 * long ago.
 */
const SETTLE_MS = 120_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Maximum number of steps that a run keeps, and maximum length of a label in characters. */
const MAX_STEPS = 200;
const MAX_LABEL_CHARACTERS = 200;

const QUEUED_STAGE = 'Queued';
const COLLECTING_STAGE = 'Collecting executions';
export const READING_STAGE = 'Reading executions';
export const GROUPING_STAGE = 'Grouping observations';
export const CHECKING_STAGE = 'Checking original evidence';

/** Request for a run. Null members use the saved settings; without times, the look-back time decides. */
export interface RunRequest {
  readonly settings: LensSettings | null;
  readonly lookbackHours: number | null;
  readonly start: Date | null;
  readonly end: Date | null;
  readonly agentName: string | null;
}

export const PLAIN_RUN: RunRequest = { settings: null, lookbackHours: null, start: null, end: null, agentName: null };

/** Month of a budget, `YYYY-MM`, UTC. */
export const monthOf = (now: Date): string => now.toISOString().slice(0, 7);

/**
 * Window of a run: explicit times, else from `lookbackHours` ago to two minutes ago. A request with neither
 * `lookbackHours` nor settings begins at the last scan if that is later.
 */
function windowOf(lens: Lens, request: RunRequest, now: Date): { readonly start: Date; readonly end: Date } {
  if (request.start !== null && request.end !== null) return { start: request.start, end: request.end };
  const end = new Date(now.getTime() - SETTLE_MS);
  const hours = request.lookbackHours ?? (request.settings ?? lens.settings).lookbackHours;
  const lookbackStart = new Date(now.getTime() - hours * HOUR_MS);
  const isPlain = request.lookbackHours === null && request.settings === null;
  const lastScan = isPlain && lens.lastScanAt !== null ? new Date(lens.lastScanAt) : null;
  const start = lastScan !== null && lastScan > lookbackStart ? lastScan : lookbackStart;
  return { start: start < end ? start : end, end };
}

/** Input of a new run, besides its lens. */
export interface NewRunFacts {
  readonly id: string;
  readonly now: Date;
  readonly trigger: LensRun['trigger'];
}

function newRun(lens: Lens, request: RunRequest, { id, now, trigger }: NewRunFacts): LensRun {
  const { start, end } = windowOf(lens, request, now);
  const settings = request.settings ?? lens.settings;
  return {
    id,
    lensId: lens.id,
    status: 'queued',
    stage: QUEUED_STAGE,
    createdAt: now.toISOString(),
    start: start.toISOString(),
    end: end.toISOString(),
    settings: request.agentName === null ? settings : { ...settings, agentName: request.agentName },
    revision: lens.revision,
    trigger,
    attempts: 0,
    workerId: null,
    leaseUntil: null,
    finishedAt: null,
    coverage: NO_COVERAGE,
    error: '',
    sample: null,
    cost: ZERO_USD,
    findings: null,
    assessments: [],
    steps: [],
    reviews: [],
    reviewed: 0,
    reading: [],
    activities: [],
    reviewVersions: [],
  };
}

/** A new lens with its first run. */
export function newLens(
  settings: LensSettings,
  { id, runId, now }: { readonly id: string; readonly runId: string; readonly now: Date },
): LensState {
  const createdAt = now.toISOString();
  const lens: Lens = {
    id,
    scope: { teamId: '', apiKeyHash: '', allTeams: true },
    settings,
    revision: 1,
    version: 0,
    createdAt,
    nextRunAt: createdAt,
    lastScanAt: null,
    budgetMonth: monthOf(now),
    spent: ZERO_USD,
    reservations: [],
    criteriaUpdatedAt: null,
  };
  return { lens, run: newRun(lens, PLAIN_RUN, { id: runId, now, trigger: 'schedule' }), findings: [] };
}

const nextVersion = (lens: Lens): Lens => ({ ...lens, version: lens.version + 1 });

/** The lens with a run queued; unchanged while one is active. */
export function withQueuedRun(state: LensState, request: RunRequest, about: NewRunFacts): LensState {
  if (isActive(state.run)) return state;
  return { ...state, lens: nextVersion(state.lens), run: newRun(state.lens, request, about) };
}

/** Compared criteria have the same version of the prompts, so that any value serves. */
const ANY_VERSION = 0;

const haveSameCriteria = (left: LensSettings, right: LensSettings): boolean =>
  criteriaOf(left, ANY_VERSION) === criteriaOf(right, ANY_VERSION);

/**
 * The lens with other settings. Changed criteria reset the last scan, so that the next run covers the whole look-back
 * time.
 */
export function withSettings({ lens, ...rest }: LensState, settings: LensSettings, now: Date): LensState {
  const criteriaChange = haveSameCriteria(settings, lens.settings)
    ? {}
    : { lastScanAt: null, criteriaUpdatedAt: now.toISOString() };
  return { ...rest, lens: { ...nextVersion(lens), settings, revision: lens.revision + 1, ...criteriaChange } };
}

/** A paused lens with its schedule enabled again; unchanged when it is not paused. */
export function resumedLens(state: LensState): LensState {
  const { lens } = state;
  if (lens.settings.enabled) return state;
  const settings = { ...lens.settings, enabled: true };
  return { ...state, lens: { ...nextVersion(lens), settings, revision: lens.revision + 1 } };
}

/** The step of a run that enters a stage. */
function stageStep(label: string, now: Date): RunStep {
  const none = { model: '', purpose: '', promptTokens: 0, completionTokens: 0, cost: 0 };
  return { at: now.toISOString(), kind: 'stage', label: label.slice(0, MAX_LABEL_CHARACTERS), ...none };
}

/** The run with a further step. */
const withStep = <Run extends RunHead>(run: Run, step: RunStep): Run => ({
  ...run,
  steps: [...run.steps, step].slice(-MAX_STEPS),
});

/** The run in a stage. A stage other than the current one adds a step. */
export const inStage = <Run extends RunHead>(run: Run, stage: string, now: Date): Run =>
  stage === run.stage ? run : withStep({ ...run, stage }, stageStep(stage, now));

/** The lens with its run claimed. The sample stays; reviews and activity of the last worker are cleared. */
export function withClaimedRun(
  { lens, run, findings }: LensState,
  claim: { readonly attempts: number; readonly workerId: string; readonly leaseUntil: Date },
  now: Date,
): LensState {
  const fresh = { reviews: [], reviewed: 0, reading: [], activities: [] };
  const staged = inStage({ ...run, ...fresh, status: 'running' }, COLLECTING_STAGE, now);
  const leaseUntil = claim.leaseUntil.toISOString();
  const claimedRun: LensRun = { ...staged, attempts: claim.attempts, workerId: claim.workerId, leaseUntil };
  return { lens: nextVersion(lens), run: claimedRun, findings };
}

const STAGES = { completed: 'Complete', failed: 'Failed', cancelled: 'Cancelled' } as const;

/** The lens after its run ended. The next run follows after the interval. Unchanged when no run is active. */
export function withEndedRun(
  state: LensState,
  ending: Partial<LensRun> & { readonly status: keyof typeof STAGES },
  now: Date,
): LensState {
  const { lens, run, findings } = state;
  if (!isActive(run)) return state;
  const stage = STAGES[ending.status];
  const endMembers = { ...ending, finishedAt: now.toISOString(), leaseUntil: null, reading: [], activities: [] };
  // Only a scheduled run without an error, and with the current criteria, moves the time of the last scan.
  const isWithoutError = ending.status === 'completed' && (ending.error ?? '') === '';
  const isScan = isWithoutError && run.trigger === 'schedule' && haveSameCriteria(run.settings, lens.settings);
  const { lastScanAt } = lens;
  const scannedUntil = isScan && (lastScanAt === null || lastScanAt < run.end) ? run.end : lastScanAt;
  const nextRunAt = new Date(now.getTime() + lens.settings.intervalMinutes * MINUTE_MS).toISOString();
  return {
    lens: { ...nextVersion(lens), nextRunAt, lastScanAt: scannedUntil },
    // A cancellation adds no step, as in the reference service.
    run: { ...(ending.status === 'cancelled' ? { ...run, stage } : inStage(run, stage, now)), ...endMembers },
    findings,
  };
}

/** When the schedule queues the next run; null for a paused lens and while a run is active. */
export const nextRunDueAt = ({ lens, run }: Pick<LensState, 'lens' | 'run'>): Date | null =>
  !lens.settings.enabled || isActive(run) ? null : new Date(lens.nextRunAt);

/** Throws InvalidInput for an invalid run request. Needs no store. */
export const assertRunRequest = (request: RunRequest): RunRequest => {
  if (request.settings !== null) assertLensInput(request.settings);
  if (request.lookbackHours !== null) assertLookback(request.lookbackHours, ['body', 'lookback_hours']);
  assertWindow(request.start, request.end);
  return request;
};
