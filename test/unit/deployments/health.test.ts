import { describe, expect, it } from 'vitest';
import { InvalidInput, UpstreamFailed } from '../../../src/domain/errors.ts';
import {
  type EndedCall,
  healthFailureCode,
  type Health,
  type HealthState,
  jointHealth,
  jointState,
  RECENT_MS,
  healthStateOf,
} from '../../../src/domain/deployments/health.ts';
import { createHealthTracker } from '../../../src/gateway/routing/health.ts';

const upstreamFailure = (upstreamStatus: number | null, timedOut = false): UpstreamFailed =>
  new UpstreamFailed('no', { provider: 'openai', upstreamStatus, timedOut });
/** Failed calls, and then successful ones. All end at `atMs`. */
const callsEndedAt = (failed: number, succeeded: number, atMs = 0): readonly EndedCall[] =>
  [...Array(failed).fill(false), ...Array(succeeded).fill(true)].map((isSuccess: boolean) => ({
    atMs,
    succeeded: isSuccess,
  }));

describe('the health state', () => {
  // Degraded from a tenth of failures, failing from half.
  it.each([
    ['unknown', 0, 0],
    ['healthy', 0, 1],
    ['healthy', 1, 19],
    ['degraded', 2, 18],
    ['degraded', 9, 11],
    ['failing', 10, 10],
    ['failing', 1, 0],
    // Only the last twenty calls count.
    ['healthy', 20, 20],
  ])('is %s after %i failures and then %i successes', (state, failed, succeeded) => {
    expect(healthStateOf(callsEndedAt(failed, succeeded), 0)).toBe(state);
  });

  it('ignores calls that ended more than five minutes ago', () => {
    const calls = [...callsEndedAt(5, 0, 0), ...callsEndedAt(0, 1, 10)];
    expect([RECENT_MS, RECENT_MS + 1, RECENT_MS + 11].map((nowMs) => healthStateOf(calls, nowMs))).toEqual([
      'failing',
      'healthy',
      'unknown',
    ]);
  });

  it.each([
    ['unknown', []],
    ['unknown', ['unknown', 'unknown']],
    ['healthy', ['healthy', 'unknown', 'healthy']],
    ['failing', ['failing', 'unknown']],
    ['degraded', ['failing', 'healthy']],
    ['degraded', ['degraded', 'healthy']],
  ] satisfies [HealthState, HealthState[]][])('is %s for several deployments with the states %j', (joint, states) => {
    expect(jointState(states)).toBe(joint);
  });
});

// Null: not a failure of the deployment.
it.each([
  [upstreamFailure(500), '500'],
  [upstreamFailure(429), '429'],
  [upstreamFailure(401), '401'],
  [upstreamFailure(404), '404'],
  [upstreamFailure(400), null],
  [upstreamFailure(422), null],
  [upstreamFailure(null), 'NO_ANSWER'],
  [upstreamFailure(null, true), 'TIMEOUT'],
  [new InvalidInput('no'), null],
  [new TypeError('a bug'), null],
  [null, null],
])('%o has the failure code %j', (failure, code) => {
  expect(healthFailureCode(failure)).toBe(code);
});

describe('the health of deployments', () => {
  function aTracker() {
    let nowMs = 0;
    const tracker = createHealthTracker({ now: () => new Date(nowMs), monotonicMs: () => nowMs });
    const setTime = (ms: number): void => {
      nowMs = ms;
    };
    return { tracker, setTime };
  }
  const NOTHING: Health = {
    state: 'unknown',
    calls: 0,
    failures: 0,
    inFlight: 0,
    latencyMs: null,
    lastSuccessAt: null,
    lastFailure: null,
  };

  it('is unknown for a deployment without calls, and counts calls in progress', () => {
    const { tracker } = aTracker();
    expect(tracker.of('a')).toEqual(NOTHING);
    tracker.begin('a');
    tracker.begin('a');
    expect([tracker.of('a'), tracker.of('b')]).toEqual([{ ...NOTHING, inFlight: 2 }, NOTHING]);
  });

  it('counts answered and failed calls, with their latest times', () => {
    const { tracker, setTime } = aTracker();
    const answered = tracker.begin('a');
    answered.recordFirstByte(100);
    setTime(1_000);
    answered.ended(null);
    const failed = tracker.begin('a');
    failed.recordFirstByte(200);
    setTime(2_000);
    failed.ended(upstreamFailure(null));
    expect(tracker.of('a')).toEqual({
      state: 'failing',
      calls: 2,
      failures: 1,
      inFlight: 0,
      // A moving average of 100 and 200, in which the newer latency counts a fifth.
      latencyMs: 120,
      lastSuccessAt: new Date(1_000),
      lastFailure: { at: new Date(2_000), code: 'NO_ANSWER' },
    });
  });

  it('does not count refused and abandoned calls, nor failures that the caller caused', () => {
    const { tracker } = aTracker();
    tracker.begin('a').ended(new InvalidInput('no'));
    // Abandoned: it ends without a first byte and without a failure.
    tracker.begin('a').ended(null);
    tracker.begin('a').ended(upstreamFailure(400));
    expect(tracker.of('a')).toEqual(NOTHING);
  });

  it('has the state of the last twenty calls, and the counts of all calls', () => {
    const { tracker } = aTracker();
    for (let calls = 0; calls < 1_000; calls += 1) tracker.begin('a').ended(upstreamFailure(503));
    for (let calls = 0; calls < 20; calls += 1) {
      const call = tracker.begin('a');
      call.recordFirstByte(1);
      call.ended(null);
    }
    expect(tracker.of('a')).toMatchObject({ state: 'healthy', calls: 1_020, failures: 1_000 });
  });

  it('has sums, the latest times and the mean latency for several deployments', () => {
    const healthy: Health = {
      state: 'healthy',
      calls: 2,
      failures: 0,
      inFlight: 1,
      latencyMs: 10,
      lastSuccessAt: new Date(5),
      lastFailure: { at: new Date(3), code: '429' },
    };
    const failing: Health = {
      state: 'failing',
      calls: 3,
      failures: 3,
      inFlight: 0,
      latencyMs: 30,
      lastSuccessAt: new Date(4),
      lastFailure: { at: new Date(7), code: '500' },
    };
    expect(jointHealth([healthy, failing, NOTHING])).toEqual({
      state: 'degraded',
      calls: 5,
      failures: 3,
      inFlight: 1,
      latencyMs: 20,
      lastSuccessAt: new Date(5),
      lastFailure: { at: new Date(7), code: '500' },
    });
    expect(jointHealth([])).toEqual(NOTHING);
  });
});
