import { describe, expect, it } from 'vitest';
import { countText, dollars, dollarsPerMillion, durationText, percent } from '../../../src/dashboard/format.ts';

describe('dollars', () => {
  it.each([
    [null, '–'],
    ['0', '$0.00'],
    ['0.000000', '$0.00'],
    ['1234567.891', '$1,234,567.89'],
    ['12', '$12.00'],
    ['0.01', '$0.01'],
    ['0.0123', '$0.01'],
    ['0.00012345', '$0.000123'],
    ['0.000000004', '$0.000000004'],
    ['-2.5', '-$2.50'],
  ])('%s is shown as %s', (amount, text) => {
    expect(dollars(amount)).toBe(text);
  });
});

describe('dollarsPerMillion', () => {
  it.each([
    [null, '–'],
    ['0', '$0.00'],
    ['0.0000025', '$2.50'],
    ['0.000015', '$15.00'],
    ['0.000000075', '$0.075'],
    ['0.0012', '$1,200.00'],
    ['1', '$1,000,000.00'],
  ])('the price %s of a token is %s', (price, text) => {
    expect(dollarsPerMillion(price)).toBe(text);
  });
});

it('counts have thousands separators, also beyond the exact integers of a number', () => {
  expect([countText(0), countText(999), countText(1000), countText('9007199254740993')]).toEqual([
    '0',
    '999',
    '1,000',
    '9,007,199,254,740,993',
  ]);
});

it('durations are in ms, s, or min and s', () => {
  expect([durationText(0.254), durationText(12.4), durationText(1234), durationText(61_500)]).toEqual([
    '0.25 ms',
    '12 ms',
    '1.2 s',
    '1 min 1 s',
  ]);
});

it('a duration below a unit is not rounded up to the unit', () => {
  expect([durationText(999.6), durationText(59_999)]).toEqual(['999 ms', '59.9 s']);
});

it('a share is from 0 to 100 percent, and 0 of nothing', () => {
  expect([percent(1, 4), percent(5, 4), percent(-1, 4), percent(1, 0)]).toEqual([25, 100, 0, 0]);
});
