import { NotFound } from '../../src/domain/errors.ts';
import { isHeld } from '../../src/domain/jobs/job.ts';
import type { LensRun, RunHead } from '../../src/domain/lens/lens.ts';
import { OwnershipLost, type RunClaim } from '../../src/domain/lens/worker.ts';
import { LensWorkerCaller } from '../../src/domain/lens/worker-caller.ts';
import { callerOf } from './operation.ts';
import type { LensPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** The worker that sends the request. */
export function workerOf(scope: Pick<Scope, 'caller'>): LensWorkerCaller['worker'] {
  const caller = callerOf(scope);
  if (!(caller instanceof LensWorkerCaller)) throw new TypeError('The access rule must admit workers only.');
  return caller.worker;
}

/** The run of a valid claim. Throws NotFound and OwnershipLost. */
export async function claimedRun(scope: Scope<LensPlatform>, claim: RunClaim): Promise<LensRun> {
  const { stores, clock, claimedRuns } = scope.platform;
  const [job] = await stores.jobs.findMany([claim.runId]);
  const isClaimed = job !== undefined && isHeld(job, clock.now()) && job.attempts === claim.attempt;
  // A cached run saves reading the lens for each request of the worker.
  const known = claimedRuns.find(claim);
  if (isClaimed && known !== null && job.workerId === workerOf(scope).id && known.lensId === claim.lensId) return known;
  const state = await stores.lenses.find(claim.lensId);
  if (state === null) throw new NotFound('lens', claim.lensId, 'Lens not found');
  assertOwned(scope, state.run, claim);
  if (!isClaimed) throw new OwnershipLost();
  // A run without a sample still changes: its sample is chosen later.
  if (state.run.sample !== null) claimedRuns.put(claim, state.run);
  return state.run;
}

/** Throws OwnershipLost unless the worker runs the claimed attempt of the run. */
export function assertOwned(scope: Scope<LensPlatform>, run: RunHead, { runId, attempt }: RunClaim): void {
  const isOwned =
    run.id === runId && run.status === 'running' && run.attempts === attempt && run.workerId === workerOf(scope).id;
  if (!isOwned) throw new OwnershipLost();
}
