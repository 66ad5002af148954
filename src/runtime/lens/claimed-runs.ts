import { evictOldest } from '../../domain/evict-oldest.ts';
import type { LensRun } from '../../domain/lens/lens.ts';
import type { ClaimedRuns, RunClaim } from '../../domain/lens/worker.ts';

/** Maximum number of runs. Beyond it, the run that was added first is evicted. */
const MAX_RUNS = 64;

const nameOf = ({ runId, attempt }: RunClaim): string => `${runId}/${attempt}`;

export function createClaimedRuns(): ClaimedRuns {
  const runs = new Map<string, LensRun>();
  return {
    find: (claim) => runs.get(nameOf(claim)) ?? null,
    put(claim, run) {
      runs.set(nameOf(claim), run);
      evictOldest(runs, MAX_RUNS);
    },
    drop: (claim) => void runs.delete(nameOf(claim)),
  };
}
