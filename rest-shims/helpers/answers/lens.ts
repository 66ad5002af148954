import { snakeCased } from '../../../src/domain/key-case.ts';
import type { Execution, Sample } from '../../../src/domain/lens/execution.ts';
import type { Lens, LensRun, LensState } from '../../../src/domain/lens/lens.ts';
import type { LensWorker } from '../../../src/domain/lens/worker.ts';
import { usdNumber } from '../../../src/domain/money.ts';

const withoutMetadata = (execution: Execution): Execution => ({ ...execution, metadata: [] });

const sampleWithoutMetadata = (sample: Sample | null): Sample | null =>
  sample === null ? null : { ...sample, executions: sample.executions.map(withoutMetadata) };

/** A run of a lens, without the id of the lens. Worker, lease and attempts are the last members. */
export function renderRun({ lensId: _lens, attempts, workerId, leaseUntil, ...run }: LensRun) {
  return snakeCased({ ...run, cost: usdNumber(run.cost), workerId, leaseUntil, attempts });
}

/** A run in a list: without sample, findings and assessments. */
export const renderListedRun = (run: LensRun) => renderRun({ ...run, sample: null, findings: null, assessments: [] });

/** A lens. Its list `jobs` has only the latest run. */
function renderLens({ reservations, ...lens }: Lens, latestRun: LensRun, findings: LensState['findings']) {
  return {
    ...snakeCased({ ...lens, spent: usdNumber(lens.spent) }),
    jobs: [renderRun(latestRun)],
    findings: snakeCased(findings),
    reservations: snakeCased(reservations.map((one) => ({ ...one, amount: usdNumber(one.amount) }))),
  };
}

/** A lens after a change. */
export const renderChangedLens = ({ lens, run, findings }: LensState) => renderLens(lens, run, findings);

/** A lens without two large parts of its run: the reviews, and the metadata of the sampled executions. */
export const renderLensWithoutReviews = ({ lens, run, findings }: LensState) =>
  renderLens(lens, { ...run, reviews: [], sample: sampleWithoutMetadata(run.sample) }, findings);

/** A worker. Its scope is constant: every worker serves all teams. */
export const renderWorker = ({ id, name, lastSeen, revoked, analysisKeyId }: LensWorker) => ({
  id,
  name,
  scope: { team_id: '', api_key_hash: '', all_teams: true },
  last_seen: lastSeen.toISOString(),
  revoked,
  analysis_key_id: analysisKeyId,
});
