import { describe, expect, it } from 'vitest';
import { type DutyRun, dutySpan } from '../../../src/domain/jobs/duty-run.ts';
import { randomIds } from '../../../src/runtime/identifiers.ts';

const aRun = (outcome: DutyRun['outcome'], endedAt = 1_700_000_001_500): DutyRun => ({
  duty: { name: 'trace-retention', everyMs: 600_000 },
  job: { id: 'duty:trace-retention@2023-11-14T22:10:00.000Z', attempts: 2 },
  startedAt: new Date(1_700_000_000_000),
  endedAt: new Date(endedAt),
  outcome,
});

describe('the span of a run of a duty', () => {
  it('is a root of its own trace, with the job and its outcome', () => {
    const span = dutySpan(aRun({ kind: 'completed' }), { ...randomIds, traceId: () => 't1', spanId: () => 's1' });
    expect(span).toEqual({
      traceId: 't1',
      spanId: 's1',
      parentSpanId: null,
      name: 'duty:trace-retention',
      kind: 'INTERNAL',
      startNs: 1_700_000_000_000_000_000n,
      endNs: 1_700_000_001_500_000_000n,
      status: 'ok',
      statusMessage: '',
      attributes: {
        'lensgate.job.id': 'duty:trace-retention@2023-11-14T22:10:00.000Z',
        'lensgate.job.attempt': 2,
        'lensgate.job.outcome': 'completed',
      },
    });
  });

  it.each([
    [{ kind: 'failed', error: 'no disk' } as const, 'error', 'no disk'],
    [{ kind: 'released' } as const, 'ok', ''],
    [{ kind: 'lost' } as const, 'ok', ''],
  ])('has the status of its outcome: %j', (outcome, status, statusMessage) => {
    const span = dutySpan(aRun(outcome), randomIds);
    expect(span).toMatchObject({ status, statusMessage, attributes: { 'lensgate.job.outcome': outcome.kind } });
  });

  it('never ends before it starts, also when the clock is set back', () => {
    const { startNs, endNs } = dutySpan(aRun({ kind: 'completed' }, 1_600_000_000_000), randomIds);
    expect(endNs).toBe(startNs);
  });
});
