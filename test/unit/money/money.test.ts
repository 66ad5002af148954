import { describe, expect, it } from 'vitest';
import {
  addUsd,
  rateFrom,
  attoCost,
  type Usd,
  usdFrom,
  usdFromAtto,
  usdNumber,
  usdText,
  ZERO_USD,
} from '../../../src/domain/money.ts';
import { permutationsOf } from '../../support/permutations.ts';

const pico = (amount: bigint): Usd => amount as Usd;

describe('money', () => {
  it('reads prices in the notation of the price map, exact to the attodollar', () => {
    expect([2.5e-6, '2.5e-06', '0.0000025', 1e-18, 0, '.5', '5.'].map(rateFrom)).toEqual([
      2_500_000_000_000n,
      2_500_000_000_000n,
      2_500_000_000_000n,
      1n,
      0n,
      500_000_000_000_000_000n,
      5_000_000_000_000_000_000n,
    ]);
  });

  it.each([null, undefined, '', '.', 'free', '1e', '0x10', Number.NaN, Number.POSITIVE_INFINITY, {}, true])(
    'refuses %j as a price',
    (price) => {
      expect(rateFrom(price)).toBeNull();
    },
  );

  it('adds decimal amounts without the rounding error of floats', () => {
    const tenths = Array.from({ length: 10 }, () => usdFrom(0.1) ?? ZERO_USD);
    expect(usdText(tenths.reduce(addUsd, ZERO_USD))).toBe('1');
  });

  it('is rounded once, at the end, half to even', () => {
    expect([500_000n, 1_500_000n, 2_500_000n, 2_500_001n, -1_500_000n, -500_000n].map(usdFromAtto)).toEqual([
      0n,
      2n,
      2n,
      3n,
      -2n,
      0n,
    ]);
    const thirdOfPicodollar = rateFrom('0.000000000000333333') ?? attoCost(0n as never, 0);
    expect(usdFromAtto(thirdOfPicodollar * 3n)).toBe(1n);
  });

  it('prices 2^53 - 1 tokens exactly', () => {
    const rate = rateFrom(1.5e-7);
    expect(rate === null ? null : usdText(usdFromAtto(attoCost(rate, 9_007_199_254_740_991)))).toBe(
      '1351079888.21114865',
    );
  });

  it('is limited to the largest 64-bit amount, for every order of addition', () => {
    const largest = pico(2n ** 63n - 1n);
    const largeAmounts = [2n ** 62n, 5n, 2n ** 63n - 7n, 2n ** 62n].map(pico);
    expect(addUsd(pico(2n ** 62n), pico(2n ** 62n - 1n))).toBe(largest);
    for (const amounts of permutationsOf(largeAmounts)) expect(amounts.reduce(addUsd)).toBe(largest);
    expect(addUsd(pico(-(2n ** 63n) + 1n), pico(-1n))).toBe(-largest);
  });

  it('writes amounts in decimal notation', () => {
    const amounts = [0n, 1n, 125_000_000n, 1_000_000_000_000n, -2_500_000_000_000n, 12_000_000_000_345n].map(pico);
    expect(amounts.map(usdText)).toEqual(['0', '0.000000000001', '0.000125', '1', '-2.5', '12.000000000345']);
    expect(amounts.map(usdNumber)).toEqual([0, 1e-12, 0.000125, 1, -2.5, 12.000000000345]);
  });

  it('parses the texts that it writes', () => {
    for (const amount of [0n, 1n, 999_999_999_999n, 123_456_789_012_345n, -7n].map(pico))
      expect(usdFrom(usdText(amount))).toBe(amount);
  });
});
