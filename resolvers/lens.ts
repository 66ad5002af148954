import { NotFound } from '../src/domain/errors.ts';
import { inMonth } from '../src/domain/lens/budget.ts';
import { assertExecutionIds } from '../src/domain/lens/execution.ts';
import { findingNamed, type FindingStatus, withStatus } from '../src/domain/lens/finding.ts';
import { isActive, type LensRun, type LensState, RUN_PAGE_SIZE } from '../src/domain/lens/lens.ts';
import type { Review } from '../src/domain/lens/review.ts';
import type { RunPlace } from '../src/domain/lens/store.ts';
import {
  withEndedRun,
  newLens,
  withQueuedRun,
  type RunRequest,
  resumedLens,
  withSettings,
} from '../src/domain/lens/schedule.ts';
import { type LensSettings, assertLensInput } from '../src/domain/lens/settings.ts';
import type { LensWorker } from '../src/domain/lens/worker.ts';
import { assertAnalysisModel, assertWorkerFor } from './operation/lens-models.ts';
import { lensAdmin, lensReader } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';
import { unknownLens, lensNamed, startJob } from './operation/lens-runs.ts';

/** The id of a lens. */
export interface NamedLens {
  readonly id: string;
}

/** The ids of a lens and of one of its runs. */
export interface NamedRun extends NamedLens {
  readonly runId: string;
}

/** Runs with the leases of their jobs. `dueAt` of a running job is the end of its lease. */
async function withLeases(scope: Scope<LensPlatform>, runs: readonly LensRun[]): Promise<readonly LensRun[]> {
  const running = runs.filter(({ status }) => status === 'running');
  if (running.length === 0) return runs;
  const jobs = await scope.platform.stores.jobs.findMany(running.map(({ id }) => id));
  const leases = new Map(jobs.map(({ id, dueAt }) => [id, dueAt.toISOString()]));
  return runs.map((run) =>
    run.status === 'running' ? { ...run, leaseUntil: leases.get(run.id) ?? run.leaseUntil } : run,
  );
}

/** Lenses with the leases of their runs and the spend of the current month. */
async function shownLenses(scope: Scope<LensPlatform>, states: readonly LensState[]): Promise<readonly LensState[]> {
  const now = scope.platform.clock.now();
  const runs = await withLeases(
    scope,
    states.map(({ run }) => run),
  );
  return states.map((state, at) => ({ ...state, lens: inMonth(state.lens, now), run: runs[at] ?? state.run }));
}

async function shownLens(scope: Scope<LensPlatform>, state: LensState): Promise<LensState> {
  const [shown = state] = await shownLenses(scope, [state]);
  return shown;
}

/** Changes a lens. Throws NotFound. */
async function changeLens(
  scope: Scope<LensPlatform>,
  id: string,
  change: (state: LensState) => LensState,
): Promise<LensState> {
  const state = await scope.platform.stores.lenses.change(id, change);
  if (state === null) throw unknownLens(id);
  return state;
}

export interface LensList {
  readonly lenses: readonly LensState[];
  readonly workers: readonly LensWorker[];
}

/** All lenses, by id, and all workers. */
export const listLenses = operation({
  name: 'listLenses',
  access: lensReader,
  async run(scope: Scope<LensPlatform>, _input: undefined): Promise<LensList> {
    const { stores } = scope.platform;
    const [lenses, workers] = await Promise.all([stores.lenses.all(), stores.lensWorkers.all({ tokenHash: null })]);
    return { lenses: await shownLenses(scope, lenses), workers };
  },
});

/** Creates a lens and queues its first run. Throws InvalidInput. */
export const createLens = operation({
  name: 'createLens',
  access: lensAdmin,
  async run(scope: Scope<LensPlatform>, settings: LensSettings): Promise<LensState> {
    const { stores, ids, clock } = scope.platform;
    assertLensInput(settings);
    assertExecutionIds(settings.executionIds);
    assertAnalysisModel(scope, settings.model);
    await assertWorkerFor(scope, settings.model);
    const state = newLens(settings, { id: ids.uuid(), runId: ids.uuid(), now: clock.now() });
    await stores.lenses.add(state);
    await startJob(scope, state.run);
    return state;
  },
});

/** Reads a lens with its latest run and its findings. Throws NotFound. */
export const getLens = operation({
  name: 'getLens',
  access: lensReader,
  run: async (scope: Scope<LensPlatform>, { id }: NamedLens): Promise<LensState> =>
    shownLens(scope, await lensNamed(scope, id)),
});

/**
 * Replaces the settings of a lens. An active run continues with the earlier settings. Throws NotFound and
 * InvalidInput.
 */
export const updateLens = operation({
  name: 'updateLens',
  access: lensAdmin,
  async run(
    scope: Scope<LensPlatform>,
    { id, settings }: NamedLens & { readonly settings: LensSettings },
  ): Promise<LensState> {
    const before = await lensNamed(scope, id);
    assertLensInput(settings);
    assertExecutionIds(settings.executionIds);
    const { model, enabled } = before.lens.settings;
    // A lens may keep a model that is no longer available, until the lens is enabled again.
    if (settings.model !== model || (settings.enabled && !enabled)) assertAnalysisModel(scope, settings.model);
    const { clock } = scope.platform;
    return shownLens(scope, await changeLens(scope, id, (state) => withSettings(state, settings, clock.now())));
  },
});

/** Queues a run. While a run is active, returns the lens unchanged. Throws NotFound and InvalidInput. */
export const queueLensRun = operation({
  name: 'queueLensRun',
  access: lensAdmin,
  async run(
    scope: Scope<LensPlatform>,
    { id, request }: NamedLens & { readonly request: RunRequest },
  ): Promise<LensState> {
    const { ids, clock } = scope.platform;
    const before = await lensNamed(scope, id);
    const settings = request.settings ?? before.lens.settings;
    assertExecutionIds(settings.executionIds);
    assertAnalysisModel(scope, settings.model);
    await assertWorkerFor(scope, settings.model);
    const newRun = { id: ids.uuid(), now: clock.now(), trigger: 'manual' } as const;
    const state = await changeLens(scope, id, (current) => withQueuedRun(current, request, newRun));
    if (state.run.id === newRun.id) await startJob(scope, state.run);
    return shownLens(scope, state);
  },
});

/** Cancels the active run of a lens. Without an active run the lens is unchanged. Throws NotFound. */
export const cancelLensRun = operation({
  name: 'cancelLensRun',
  access: lensAdmin,
  async run(scope: Scope<LensPlatform>, { id }: NamedLens): Promise<LensState> {
    const { stores, clock, bus } = scope.platform;
    let cancelled: LensRun | null = null;
    const state = await changeLens(scope, id, (before) => {
      cancelled = null;
      if (!isActive(before.run)) return before;
      const after = withEndedRun(before, { status: 'cancelled' }, clock.now());
      cancelled = after.run;
      return after;
    });
    // The job may be active when the run is not: a process may have ended between the two writes.
    await stores.jobs.cancel(state.run.id, clock.now());
    if (cancelled !== null) bus.publish('lensRun', state.run);
    return shownLens(scope, state);
  },
});

/**
 * Sets the status of a finding. The id of a finding that was merged into another one selects that other one. An unknown
 * finding id changes nothing. Throws NotFound for an unknown lens.
 */
export const setFindingStatus = operation({
  name: 'setFindingStatus',
  access: lensAdmin,
  async run(
    scope: Scope<LensPlatform>,
    {
      id,
      findingId,
      ...judged
    }: NamedLens & { readonly findingId: string; readonly status: FindingStatus; readonly reason: string },
  ): Promise<LensState> {
    const state = await changeLens(scope, id, (before) => {
      if (findingNamed(before.findings, findingId) === undefined) return before;
      const lens = { ...before.lens, version: before.lens.version + 1 };
      return { ...before, lens, findings: withStatus(before.findings, findingId, judged) };
    });
    const finding = findingNamed(state.findings, findingId);
    if (finding !== undefined) scope.platform.bus.publish('finding', { lensId: id, finding });
    return shownLens(scope, state);
  },
});

/** Ids of the lenses that were resumed (`watching`), and lenses that could not be resumed. */
export interface ResumedLenses {
  readonly watching: readonly string[];
  readonly skipped: readonly { readonly id: string; readonly name: string; readonly reason: string }[];
}

/** Enables every paused lens whose model can still be used for analysis. */
export const resumeAllLenses = operation({
  name: 'resumeAllLenses',
  access: lensAdmin,
  async run(scope: Scope<LensPlatform>, _input: undefined): Promise<ResumedLenses> {
    const resumed: string[] = [];
    const skipped: ResumedLenses['skipped'][number][] = [];
    for (const { lens } of await scope.platform.stores.lenses.all()) {
      const { id, settings } = lens;
      if (settings.enabled) continue;
      try {
        assertAnalysisModel(scope, settings.model);
        await changeLens(scope, id, resumedLens);
        resumed.push(id);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        skipped.push({ id, name: settings.name, reason: error.message });
      }
    }
    return { watching: resumed, skipped };
  },
});

/** Query for one page of the runs of a lens. */
interface RunPage extends NamedLens {
  /** Number of runs to skip, or the run after which the page begins. */
  readonly from: number | RunPlace;
  /** 1 to `RUN_PAGE_SIZE`. */
  readonly limit: number;
}

/** Runs of a lens, newest first, and whether another page follows. Throws NotFound, and InvalidInput for the size. */
export const listLensRuns = operation({
  name: 'listLensRuns',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    { id, from, limit }: RunPage,
  ): Promise<{ readonly items: readonly LensRun[]; readonly hasMore: boolean }> {
    checkedPageSize(limit, { max: RUN_PAGE_SIZE });
    await lensNamed(scope, id);
    const runs = await scope.platform.stores.lenses.runs(id, from, limit + 1);
    return { items: await withLeases(scope, runs.slice(0, limit)), hasMore: runs.length > limit };
  },
});

/** Number of the runs of a lens. */
export const countLensRuns = operation({
  name: 'countLensRuns',
  access: lensReader,
  run: ({ platform }: Scope<LensPlatform>, { id }: NamedLens): Promise<number> => platform.stores.lenses.countRuns(id),
});

/** Reads one run. Throws NotFound. */
export const getLensRun = operation({
  name: 'getLensRun',
  access: lensReader,
  async run(scope: Scope<LensPlatform>, { id, runId }: NamedRun): Promise<LensRun> {
    await lensNamed(scope, id);
    const run = await scope.platform.stores.lenses.findRun(id, runId);
    if (run === null) throw new NotFound('lens run', runId, 'Investigation not found');
    const [shown = run] = await withLeases(scope, [run]);
    return shown;
  },
});

/**
 * Reviews of a run after the first `after` ones, and the number of all reviews. Only the latest reviews are stored.
 * Throws NotFound.
 */
export const listRunReviews = operation({
  name: 'listRunReviews',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    { after, ...named }: NamedRun & { readonly after: number },
  ): Promise<{ readonly reviews: readonly Review[]; readonly reviewed: number }> {
    const { reviews, reviewed } = await getLensRun(scope, named);
    const droppedCount = reviewed - reviews.length;
    return { reviews: reviews.slice(Math.max(0, after - droppedCount)), reviewed };
  },
});
