import { snakeCased } from '../../../src/domain/key-case.ts';
import type { Execution, Sample } from '../../../src/domain/lens/execution.ts';
import type { Lens, LensRun, LensState } from '../../../src/domain/lens/lens.ts';
import type { LensWorker } from '../../../src/domain/lens/worker.ts';
import { usdNumber } from '../../../src/domain/money.ts';

/** An execution is one agent run that a lens may review: the trace of one owner. */
const withoutTraceMetadata = (execution: Execution): Execution => ({ ...execution, metadata: [] });

const shortSample = (sample: Sample | null): Sample | null =>
  sample === null ? null : { ...sample, executions: sample.executions.map(withoutTraceMetadata) };

/** A run of a lens. The id of the lens is left out, and the members about worker, lease and attempts come last. */
export function renderRun({ lensId: _lens, attempts, workerId, leaseUntil, ...run }: LensRun) {
  return snakeCased({ ...run, workerId, leaseUntil, attempts, cost: usdNumber(run.cost) });
}

/** A run in a list: without sample, findings and assessments. */
export const renderListedRun = (run: LensRun) => renderRun({ ...run, sample: null, findings: null, assessments: [] });

function renderLens({ reservations, ...lens }: Lens, run: LensRun, findings: LensState['findings']) {
  return {
    ...snakeCased({ ...lens, spent: usdNumber(lens.spent) }),
    jobs: [renderRun(run)],
    findings: snakeCased(findings),
    reservations: snakeCased(reservations.map((one) => ({ ...one, amount: usdNumber(one.amount) }))),
  };
}

/** A lens after a change. */
export const renderChangedLens = ({ lens, run, findings }: LensState) => renderLens(lens, run, findings);

/** A lens without the reviews of its run and the metadata of its sample, which are large. */
export const renderLensWithoutReviews = ({ lens, run, findings }: LensState) =>
  renderLens(lens, { ...run, reviews: [], sample: shortSample(run.sample) }, findings);

/** A worker. Its scope is constant: every worker serves all teams. */
export const renderWorker = ({ id, name, lastSeen, revoked, analysisKeyId }: LensWorker) => ({
  id,
  name,
  scope: { team_id: '', api_key_hash: '', all_teams: true },
  last_seen: lastSeen.toISOString(),
  revoked,
  analysis_key_id: analysisKeyId,
});
