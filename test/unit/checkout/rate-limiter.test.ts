import { describe, expect, it } from 'vitest';
import { LimitExceeded } from '../../../src/domain/errors.ts';
import { createRateLimiter } from '../../../src/domain/rate-limiter.ts';

function aLimiter() {
  const state = { nowMs: 0 };
  const clock = { now: () => new Date(state.nowMs), monotonicMs: () => state.nowMs };
  return { state, limiter: createRateLimiter({ most: 2, windowMs: 10_000, what: 'checkouts', clock }) };
}

/** Counts a call. Returns `passed`, or the seconds until the next allowed call. */
function resultOfCall(limiter: ReturnType<typeof aLimiter>['limiter'], address: string): unknown {
  try {
    limiter.count(address);
    return 'passed';
  } catch (error) {
    return error instanceof LimitExceeded ? error.retryAfterSeconds : error;
  }
}

describe('a rate limiter', () => {
  it('allows a number of calls in a window, then refuses with the seconds until the window ends', () => {
    const { limiter, state } = aLimiter();
    expect(['a', 'a', 'b', 'a'].map((address) => resultOfCall(limiter, address))).toEqual([
      'passed',
      'passed',
      'passed',
      10,
    ]);
    state.nowMs = 9_999;
    expect(resultOfCall(limiter, 'a')).toBe(1);
    state.nowMs = 10_000;
    expect(resultOfCall(limiter, 'a')).toBe('passed');
  });

  it('counts at most 10,000 addresses', () => {
    const { limiter } = aLimiter();
    for (let number = 0; number <= 10_000; number += 1) {
      limiter.count(`${number}`);
      limiter.count(`${number}`);
    }
    // The last address evicted the count of the first one.
    expect([resultOfCall(limiter, '0'), resultOfCall(limiter, '10000')]).toEqual(['passed', 10]);
  });
});
