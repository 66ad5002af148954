import { expect, it } from 'vitest';
import { dutyJob, dutyLeaseMs, periodStart } from '../../../src/domain/jobs/duty.ts';

const MINUTE = { name: 'm', everyMs: 60_000 };
const EPOCH = new Date(0);

it('a period begins at a multiple of its length after the anchor, start inclusive, end exclusive', () => {
  const periodAt = (text: string, anchor = EPOCH): string => periodStart(MINUTE, new Date(text), anchor).toISOString();
  expect(periodAt('2026-11-23T18:00:00.000Z')).toBe('2026-11-23T18:00:00.000Z');
  expect(periodAt('2026-11-23T18:00:59.999Z')).toBe('2026-11-23T18:00:00.000Z');
  expect(periodAt('2026-11-23T18:01:00.000Z')).toBe('2026-11-23T18:01:00.000Z');
  expect(periodAt('2026-11-23T18:00:29.999Z', new Date('2026-11-23T17:00:30.000Z'))).toBe('2026-11-23T17:59:30.000Z');
  // The clock is before the anchor.
  expect(periodAt('2026-11-23T17:00:29.000Z', new Date('2026-11-23T17:00:30.000Z'))).toBe('2026-11-23T16:59:30.000Z');
});

it('the id of a job consists of the name of its duty and the start of its period', () => {
  expect(dutyJob(MINUTE, new Date('2026-11-23T18:00:00.000Z'))).toEqual({
    id: 'duty:m@2026-11-23T18:00:00.000Z',
    kind: 'duty:m',
    subject: '2026-11-23T18:00:00.000Z',
    dueAt: new Date('2026-11-23T18:00:00.000Z'),
    mostAttempts: 3,
  });
});

it.each([
  [1_000, 10_000],
  [5_000, 10_000],
  [5_001, 10_002],
  [15_000, 30_000],
  [600_000, 30_000],
])('a duty with a period of %i ms has a lease of %i ms: two periods, within 10 and 30 s', (everyMs, leaseMs) => {
  expect(dutyLeaseMs({ name: 'm', everyMs })).toBe(leaseMs);
});
