import { describe, expect, it } from 'vitest';
import { LimitExceeded } from '../../../src/domain/errors.ts';
import { createRateLimiter } from '../../../src/domain/rate-limiter.ts';

function aPace() {
  const state = { nowMs: 0 };
  const clock = { now: () => new Date(state.nowMs), monotonicMs: () => state.nowMs };
  return { state, pace: createRateLimiter({ most: 2, windowMs: 10_000, what: 'checkouts', clock }) };
}

/** `passed`, or the seconds until the next allowed call. */
function counted(pace: ReturnType<typeof aPace>['pace'], who: string): unknown {
  try {
    pace.count(who);
    return 'passed';
  } catch (error) {
    return error instanceof LimitExceeded ? error.retryAfterSeconds : error;
  }
}

describe('a rate limiter', () => {
  it('allows a number of calls in a window, then returns the seconds until its end', () => {
    const { pace, state } = aPace();
    expect(['a', 'a', 'b', 'a'].map((who) => counted(pace, who))).toEqual(['passed', 'passed', 'passed', 10]);
    state.nowMs = 9_999;
    expect(counted(pace, 'a')).toBe(1);
    state.nowMs = 10_000;
    expect(counted(pace, 'a')).toBe('passed');
  });

  it('counts a bounded number of addresses', () => {
    const { pace } = aPace();
    for (let number = 0; number <= 10_000; number += 1) {
      pace.count(`${number}`);
      pace.count(`${number}`);
    }
    expect([counted(pace, '0'), counted(pace, '10000')]).toEqual(['passed', 10]);
  });
});
