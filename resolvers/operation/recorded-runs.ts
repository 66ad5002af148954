import { Conflict, UpstreamFailed } from '../../src/domain/errors.ts';
import { FAMILIES } from '../../src/domain/upstream-objects/object-families.ts';
import { DELETION_WAIT_MS, pendingSinceMs } from '../../src/domain/upstream-objects/pending-usage.ts';
import { mayChange } from '../../src/domain/upstream-objects/shown-object.ts';
import type { UpstreamObject } from '../../src/domain/upstream-objects/upstream-object.ts';
import { GET_RESPONSE } from '../../src/domain/upstream-objects/object-action.ts';
import { type BackgroundScope, passForObject, placeOf, tailOf } from './object-calls.ts';
import type { ObjectPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import { storeState } from './object-states.ts';

/** Age in ms from which a run can always be deleted. */
const MAX_OPEN_MS = 3 * 86_400_000;
/** Number of runs that are read from the database at once. */
const PAGE = 100;

/**
 * Records the spend of ended runs before a run, or an evaluation with its runs, is deleted. A deleted run can no longer
 * be charged. Throws Conflict while a run is open, or its spend is not recorded, and what reading the run throws. A run
 * whose upstream reports no usage can be deleted after `DELETION_WAIT_MS`.
 */
export async function assertRunsRecorded(scope: Scope<ObjectPlatform>, object: UpstreamObject): Promise<void> {
  if (object.kind === 'eval_run') return await assertRecorded(scope, object);
  if (object.kind !== 'eval') return;
  for (let after: string | null = null; ;) {
    const runs = await scope.platform.stores.upstreamObjects.list(
      { kind: 'all' },
      { kind: 'eval_run', purpose: object.id, limit: PAGE, oldestFirst: false, after },
    );
    for (const run of runs) await assertRecorded(scope, run);
    const last = runs.at(-1);
    if (last === undefined || runs.length < PAGE) return;
    after = last.id;
  }
}

/**
 * Records the spend of a run or a background response that has ended. Throws Conflict while it is open or its spend is
 * not recorded, and what reading it throws.
 */
export async function assertRecorded(scope: BackgroundScope, run: UpstreamObject): Promise<void> {
  const { stores, clock } = scope.platform;
  const isOld = clock.now().getTime() - run.createdAt.getTime() > MAX_OPEN_MS;
  if (isOld || !mayChange(run.kind, run.shown)) return;
  const request = {
    action: run.kind === 'response' ? GET_RESPONSE : FAMILIES.eval_run.get,
    place: placeOf(scope, run),
    tail: tailOf(run),
  };
  let isOpen: boolean;
  try {
    const { read } = await passForObject(scope, request, { callId: null, parent: null });
    isOpen = mayChange(run.kind, read.shown);
    await storeState(scope, run, read.shown);
  } catch (failure) {
    const isGone = failure instanceof UpstreamFailed && failure.upstreamStatus === 404;
    if (isGone) return;
    throw failure;
  }
  const current = await stores.upstreamObjects.find(run.id);
  const sinceMs = pendingSinceMs(current?.shown ?? null);
  const hasWaited = sinceMs !== null && clock.now().getTime() - sinceMs >= DELETION_WAIT_MS;
  if (current === null || !mayChange(current.kind, current.shown) || hasWaited) return;
  const noun = run.kind === 'response' ? 'response' : `run ${run.id}`;
  throw new Conflict(
    isOpen
      ? `The ${noun} has not ended: cancel it first.`
      : `The cost of the ${noun} is not recorded yet: try again later.`,
  );
}
