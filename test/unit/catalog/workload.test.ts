import { describe, expect, it } from 'vitest';
import { assertWorkload, NO_SHARE, shareFrom, WHOLE, type Workload } from '../../../src/domain/catalog/workload.ts';

describe('a share', () => {
  it.each([
    ['0', 0n],
    ['1', 1_000_000_000n],
    ['1.000', 1_000_000_000n],
    ['0.25', 250_000_000n],
    ['00.5', 500_000_000n],
    ['0.000000001', 1n],
    ['0.1234567890000', 123_456_789n],
  ])('%s is read exactly', (text, value) => {
    expect(shareFrom('batchShare', text)).toBe(value);
  });
  it.each([
    ['1.000000001', 'must be between 0 and 1'],
    ['2', 'must be between 0 and 1'],
    ['-0.1', 'must be between 0 and 1'],
    ['', 'must be between 0 and 1'],
    ['half', 'must be between 0 and 1'],
    ['0.0000000001', 'must have at most 9 decimals'],
  ])('%s is invalid', (text, message) => {
    expect(() => shareFrom('batchShare', text)).toThrow(`\`batchShare\` ${message}.`);
  });
});

describe('a workload', () => {
  const smallest: Workload = {
    requests: 1,
    inputTokens: 0,
    outputTokens: 0,
    cacheHitRate: shareFrom('', '0.4'),
    cacheWriteRate: shareFrom('', '0.6'),
    batchShare: NO_SHARE,
    reasoningShare: WHOLE,
    modes: [],
  };
  it('may have no tokens, and cache rates with a sum of 1', () => {
    expect(() => assertWorkload(smallest)).not.toThrow();
  });
  it.each([
    [{ requests: 0 }, '`requests` must be at least 1.'],
    [{ inputTokens: -1 }, '`inputTokens` must not be below zero.'],
    [{ outputTokens: -1 }, '`outputTokens` must not be below zero.'],
    [
      { cacheWriteRate: shareFrom('', '0.600000001') },
      '`cacheWriteRate` and `cacheHitRate` must not be more than 1 together.',
    ],
  ])('is refused with %o', (invalid, message) => {
    expect(() => assertWorkload({ ...smallest, ...invalid })).toThrow(message);
  });
});
