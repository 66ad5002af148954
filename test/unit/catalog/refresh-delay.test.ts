import { expect, it } from 'vitest';
import { nextDelayMs } from '../../../src/runtime/catalog-source.ts';

it('looks again after the interval, spread by a tenth either way', () => {
  expect([nextDelayMs(60, 0, 0), nextDelayMs(60, 0, 0.5), Math.round(nextDelayMs(60, 0, 1))]).toEqual([
    54_000, 60_000, 66_000,
  ]);
});
it('waits twice as long with every failure in a row, up to a quarter of an hour', () => {
  expect([1, 2, 3, 4, 500].map((failures) => nextDelayMs(60, failures, 0.5))).toEqual([
    120_000, 240_000, 480_000, 900_000, 900_000,
  ]);
});
it('never looks sooner after a failure than without one', () => {
  expect(nextDelayMs(3_600, 5, 0.5)).toBe(3_600_000);
});
