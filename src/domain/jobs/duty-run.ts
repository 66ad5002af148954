import type { Ids } from '../clock.ts';
import type { ExportedSpan } from '../traces/exported-span.ts';
import { type Duty, type DutyOutcome, dutyKind } from './duty.ts';
import type { Job } from './job.ts';

const NS_PER_MS = 1_000_000n;

/** One run of a duty, after its end. */
export interface DutyRun {
  readonly duty: Duty;
  readonly job: Pick<Job, 'id' | 'attempts'>;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** `lost`: another process took the job over during the run. */
  readonly outcome: DutyOutcome | { readonly kind: 'lost' };
}

/** The span of a run, the only span of a new trace. Only a failed run has the status `error`. */
export function dutySpan({ duty, job, startedAt, endedAt, outcome }: DutyRun, ids: Ids): ExportedSpan {
  const startNs = BigInt(startedAt.getTime()) * NS_PER_MS;
  const endNs = BigInt(endedAt.getTime()) * NS_PER_MS;
  return {
    traceId: ids.traceId(),
    spanId: ids.spanId(),
    parentSpanId: null,
    name: dutyKind(duty),
    kind: 'INTERNAL',
    startNs,
    // The clock of the machine may be set back during a run.
    endNs: endNs < startNs ? startNs : endNs,
    status: outcome.kind === 'failed' ? 'error' : 'ok',
    statusMessage: outcome.kind === 'failed' ? outcome.error : '',
    attributes: {
      'lensgate.job.id': job.id,
      'lensgate.job.attempt': job.attempts,
      'lensgate.job.outcome': outcome.kind,
    },
  };
}
