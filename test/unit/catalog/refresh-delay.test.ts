import { expect, it } from 'vitest';
import { type CheckHistory, nextDelayMs } from '../../../src/runtime/catalog/source.ts';

const delayAfter = (history: Partial<CheckHistory>, random = 0.5): number =>
  Math.round(nextDelayMs({ refreshSeconds: 60, failures: 0, retryAfterMs: 0, ...history }, random));

it('a refresh waits for the interval, with a jitter of up to a tenth', () => {
  expect([delayAfter({}, 0), delayAfter({}, 0.5), delayAfter({}, 1)]).toEqual([54_000, 60_000, 66_000]);
});
it('the wait doubles with every failure in a row, up to a quarter of an hour', () => {
  expect([1, 2, 3, 4, 500].map((failures) => delayAfter({ failures }))).toEqual([
    120_000, 240_000, 480_000, 900_000, 900_000,
  ]);
});
it('the wait is never shorter after a failure than without one', () => {
  expect(delayAfter({ refreshSeconds: 3_600, failures: 5 })).toBe(3_600_000);
});
it('the wait is as long as the source requests, but not shorter than the wait for its failures', () => {
  expect([
    delayAfter({ failures: 1, retryAfterMs: 3_600_000 }),
    delayAfter({ failures: 1, retryAfterMs: 1_000 }),
  ]).toEqual([3_600_000, 120_000]);
});
