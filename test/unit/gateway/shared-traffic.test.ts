import { describe, expect, it } from 'vitest';
import { DEFAULT_LATENCY } from '../../../src/domain/routing/selection-policy.ts';
import { MAX_REPORTED, MAX_SHARED_SAMPLES } from '../../../src/domain/routing/shared-counts.ts';
import { createTraffic } from '../../../src/gateway/routing/traffic.ts';

const MINUTE_MS = 60_000;

/** Counts of a process with a clock that the test advances. */
function someTraffic() {
  const clock = { ms: 1_000 * MINUTE_MS, now: () => new Date(clock.ms), monotonicMs: () => clock.ms };
  const traffic = createTraffic(clock);
  traffic.turnOn();
  return { clock, traffic };
}

const completed = (tokens: number, totalMs: number) => ({ tokens, totalMs, firstTokenMs: null, timedOut: false });
const counts = (id: string, requests: number, tokens: number) => ({
  id,
  requests,
  tokens,
  latencies: [],
  firstTokens: [],
});

describe('shared counts of deployments', () => {
  it('are those of this process and of others, each counted once', () => {
    const { traffic } = someTraffic();
    traffic.started('a');
    traffic.ended('a', completed(10, 5));
    const report = traffic.report();
    // A call that starts while the report is under way.
    traffic.started('a');
    traffic.accept(report, { deployments: [counts('a', 4, 100), counts('b', 7, 70)] });
    expect(traffic.useOf('a')).toEqual({ requests: 5, tokens: 100 });
    expect(traffic.useOf('b')).toEqual({ requests: 7, tokens: 70 });
    // A report has all calls of the process, so that one that was added without an answer is not added again.
    expect(traffic.report().deployments).toMatchObject([{ id: 'a', requests: 2, tokens: 10 }]);
  });

  it('that were not accepted are reported again', () => {
    const { traffic } = someTraffic();
    traffic.report();
    traffic.started('a');
    traffic.ended('a', completed(10, 5));
    const lost = traffic.report();
    expect(traffic.report()).toEqual(lost);
    traffic.accept(lost, { deployments: [counts('a', 1, 10)] });
    expect(traffic.report().deployments).toEqual([]);
    expect(traffic.useOf('a')).toEqual({ requests: 1, tokens: 10 });
  });

  it('begin again with each minute, and latencies are kept', () => {
    const { clock, traffic } = someTraffic();
    traffic.started('a');
    const late = traffic.report();
    clock.ms += MINUTE_MS;
    const ofOthers = { ...counts('a', 9, 9), latencies: [{ ageMs: 1_000, latencyMs: 80 }] };
    traffic.accept(late, { deployments: [ofOthers] });
    expect(traffic.useOf('a')).toEqual({ requests: 0, tokens: 0 });
    expect(traffic.latencyOf('a', DEFAULT_LATENCY, false)).toBe(80);
  });

  it('have the latest latencies of all processes', () => {
    const { clock, traffic } = someTraffic();
    traffic.report();
    traffic.ended('a', completed(0, 10));
    clock.ms += 500;
    const latencies = [
      { ageMs: 900, latencyMs: 1_000 },
      { ageMs: 100, latencyMs: 30 },
    ];
    traffic.accept(traffic.report(), { deployments: [{ ...counts('a', 0, 0), latencies }] });
    expect(traffic.latencyOf('a', { ...DEFAULT_LATENCY, samples: 2 }, false)).toBe(20);
    expect(traffic.latencyOf('a', DEFAULT_LATENCY, true)).toBe(0);
  });

  it('are bounded in a report', () => {
    const { traffic } = someTraffic();
    traffic.report();
    for (let call = 0; call <= MAX_SHARED_SAMPLES; call += 1) traffic.ended('many', completed(0, call));
    expect(traffic.report().deployments[0]?.latencies).toHaveLength(MAX_SHARED_SAMPLES);
    for (let id = 0; id <= MAX_REPORTED; id += 1) traffic.started(`d${id}`);
    const reports = [traffic.report(), traffic.report()].map(({ deployments }) => deployments.map(({ id }) => id));
    expect(reports.map((ids) => ids.length)).toEqual([MAX_REPORTED, MAX_REPORTED]);
    expect(new Set(reports.flat()).size).toBe(MAX_REPORTED + 2);
  });

  it('are not reported before a strategy needs them', () => {
    const clock = { now: () => new Date(0), monotonicMs: () => 0 };
    const traffic = createTraffic(clock);
    traffic.started('a');
    expect(traffic.report()).toEqual({ minute: null, deployments: [] });
  });
});

it('a call that is not sent to a deployment does not count as a request', () => {
  const { clock, traffic } = someTraffic();
  traffic.started('a');
  traffic.started('a');
  traffic.withdrawn('a');
  expect(traffic.useOf('a').requests).toBe(1);
  clock.ms += MINUTE_MS;
  traffic.withdrawn('a');
  expect(traffic.useOf('a').requests).toBe(0);
});
