import { expect, it } from 'vitest';
import { currentWindowStart } from '../../../src/domain/budgets/limits.ts';

const utc = (text: string): Date => new Date(`${text}Z`);

it.each([
  ['1d', '2026-01-02T00:00:00', '2026-01-01T23:59:59', null],
  ['1d', '2026-01-02T00:00:00', '2026-01-02T00:00:00', '2026-01-02T00:00:00'],
  ['1d', '2026-01-02T00:00:00', '2026-01-09T10:00:00', '2026-01-09T00:00:00'],
  ['7d', '2026-01-05T00:00:00', '2026-01-20T10:00:00', '2026-01-19T00:00:00'],
  ['30d', '2026-02-01T00:00:00', '2026-04-20T10:00:00', '2026-04-01T00:00:00'],
  ['5h', '2026-01-01T05:00:00', '2026-03-01T13:20:00', '2026-03-01T10:00:00'],
  // The last window of a day ends after midnight: 20:00 to 01:00.
  ['5h', '2026-01-01T20:00:00', '2026-01-02T02:00:00', '2026-01-02T01:00:00'],
  ['5h', '2026-01-01T20:00:00', '2026-01-02T00:30:00', '2026-01-01T20:00:00'],
  ['5h', '2026-01-01T20:00:00', '2026-03-01T00:30:00', '2026-02-28T20:00:00'],
  ['7m', '2026-01-01T09:07:00', '2026-03-01T10:01:00', '2026-03-01T09:56:00'],
  ['7s', '2026-01-01T09:00:07', '2026-03-01T10:01:02', '2026-03-01T10:00:56'],
  ['24h', '2026-01-01T00:00:00', '2026-03-01T10:00:00', '2026-03-01T00:00:00'],
  ['36h', '2026-01-02T12:00:00', '2026-01-04T13:00:00', '2026-01-04T12:00:00'],
  ['30m', '2026-01-01T00:30:00', '2026-01-01T02:10:00', '2026-01-01T02:00:00'],
])(
  'the duration %s and first end %s give, for the time %s, the window start %s',
  (budgetDuration, resetAt, now, start) => {
    const found = currentWindowStart({ budgetDuration, budgetResetAt: utc(resetAt) }, utc(now));
    expect(found).toEqual(start === null ? null : utc(start));
  },
);

it('a budget without a duration has no window', () => {
  expect(currentWindowStart({ budgetDuration: null, budgetResetAt: null }, utc('2026-01-01T00:00:00'))).toBeNull();
});
