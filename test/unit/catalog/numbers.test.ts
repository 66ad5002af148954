import { describe, expect, it } from 'vitest';
import { decimalFrom, flagFrom, integerFrom } from '../../../src/domain/catalog/numbers.ts';

describe('an integer in text', () => {
  it.each([
    ['1', 1n],
    ['1.0', 1n],
    ['10.00', 10n],
    ['01', 1n],
    ['+1', 1n],
    ['-0', 0n],
    ['00', 0n],
    ['0.0', 0n],
    [' 1\t', 1n],
    ['1_000', 1000n],
    ['0_1', 1n],
    ['-007', -7n],
    ['99999999999999999999999', 99999999999999999999999n],
    ['9'.repeat(4300), BigInt('9'.repeat(4300))],
  ])('%j is valid', (text, value) => {
    expect(integerFrom(text)).toEqual({ value });
  });
  it.each(['', ' ', '1e3', '0x1', '1,000', '1.', '.0', '1.5', '1__0', '_1', '1_', '0_', '+-1', '１', 'true', 'nan'])(
    '%j is invalid',
    (text) => {
      expect(integerFrom(text)).toEqual({ fault: 'malformed' });
    },
  );
  it('beyond 4,300 digits is too long', () => {
    expect(integerFrom('9'.repeat(4301))).toEqual({ fault: 'too long' });
  });
});

describe('a decimal in text', () => {
  it.each([
    ['1e-6', 0.000001],
    [' 0.5 ', 0.5],
    ['.5', 0.5],
    ['5.', 5],
    ['-2', -2],
  ])('%j is valid', (text, value) => {
    expect(decimalFrom(text)).toBe(value);
  });
  it.each(['', 'free', '1e', 'inf', 'nan', '1e999', '0x10'])('%j is invalid', (text) => {
    expect(decimalFrom(text)).toBeNull();
  });
});

describe('a flag in text', () => {
  it.each(['true', 'T', 'Yes', 'y', 'ON', '1'])('%j is true', (text) => {
    expect(flagFrom(text)).toBe(true);
  });
  it.each(['false', 'F', 'No', 'n', 'OFF', '0'])('%j is false', (text) => {
    expect(flagFrom(text)).toBe(false);
  });
  it.each(['', ' true', '2', '1.0', 'null', 'None', 'truee'])('%j is invalid', (text) => {
    expect(flagFrom(text)).toBeNull();
  });
});
