import { NotFound } from '../../src/domain/errors.ts';
import { isActive, type LensRun, type LensState } from '../../src/domain/lens/lens.ts';
import { PLAIN_RUN, withQueuedRun } from '../../src/domain/lens/schedule.ts';
import { MAX_ATTEMPTS, RUN_JOB } from '../../src/domain/lens/worker.ts';
import type { LensPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

const LENS_NOT_FOUND = 'Lens not found';

export const unknownLens = (id: string): NotFound => new NotFound('lens', id, LENS_NOT_FOUND);

/** The lens with this id. Throws NotFound. */
export async function lensNamed({ platform }: Scope<LensPlatform>, id: string): Promise<LensState> {
  const state = await platform.stores.lenses.find(id);
  if (state === null) throw unknownLens(id);
  return state;
}

/** Adds the job of a queued run, unless the job exists, and publishes the run. */
export async function startJob({ platform }: Scope<LensPlatform>, run: LensRun): Promise<void> {
  const { stores, clock, bus } = platform;
  const job = { id: run.id, kind: RUN_JOB, subject: run.lensId, dueAt: clock.now(), mostAttempts: MAX_ATTEMPTS };
  await stores.jobs.add(job, clock.now());
  bus.publish('lensRun', run);
}

/** Queues the run of the lens whose schedule is due first. False when none is due. */
export async function queueDueRun(scope: Scope<LensPlatform>): Promise<boolean> {
  const { stores, ids, clock } = scope.platform;
  const [id] = await stores.lenses.due(clock.now(), 1);
  if (id === undefined) return false;
  const newRun = { id: ids.uuid(), now: clock.now(), trigger: 'schedule' } as const;
  const state = await stores.lenses.change(id, (current) => withQueuedRun(current, PLAIN_RUN, newRun));
  if (state !== null && isActive(state.run)) await startJob(scope, state.run);
  return true;
}
