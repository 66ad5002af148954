import { describe, expect, it } from 'vitest';
import { LimitExceeded } from '../../../src/domain/errors.ts';
import { createRateLimiter } from '../../../src/domain/rate-limiter.ts';

function aLimiter() {
  const state = { nowMs: 0 };
  const clock = { now: () => new Date(state.nowMs), monotonicMs: () => state.nowMs };
  return { state, limiter: createRateLimiter({ most: 2, windowMs: 10_000, what: 'checkouts', clock }) };
}

/** `passed`, or the seconds until the next allowed call. */
function counted(limiter: ReturnType<typeof aLimiter>['limiter'], who: string): unknown {
  try {
    limiter.count(who);
    return 'passed';
  } catch (error) {
    return error instanceof LimitExceeded ? error.retryAfterSeconds : error;
  }
}

describe('a rate limiter', () => {
  it('allows a number of calls in a window, then refuses with the seconds until the window ends', () => {
    const { limiter, state } = aLimiter();
    expect(['a', 'a', 'b', 'a'].map((who) => counted(limiter, who))).toEqual(['passed', 'passed', 'passed', 10]);
    state.nowMs = 9_999;
    expect(counted(limiter, 'a')).toBe(1);
    state.nowMs = 10_000;
    expect(counted(limiter, 'a')).toBe('passed');
  });

  it('counts a bounded number of addresses', () => {
    const { limiter } = aLimiter();
    for (let number = 0; number <= 10_000; number += 1) {
      limiter.count(`${number}`);
      limiter.count(`${number}`);
    }
    expect([counted(limiter, '0'), counted(limiter, '10000')]).toEqual(['passed', 10]);
  });
});
