import { describe, expect, it } from 'vitest';
import { reservingWindow, windowEndText } from '../../../src/domain/routing/access-window.ts';
import { latencyOf } from '../../../src/domain/routing/latency-samples.ts';
import { type AccessWindow, DEFAULT_LATENCY } from '../../../src/domain/routing/selection-policy.ts';

/** A window between two full hours. */
const windowOf = (start: number, end: number, teamIds: readonly string[], timezone = 'UTC'): AccessWindow => ({
  startMinute: start * 60,
  endMinute: end * 60,
  timezone,
  teamIds,
});
const at = (time: string): Date => new Date(`2026-07-01T${time}:00Z`);

describe('an access window', () => {
  it('reserves a deployment for its teams from its start to its end', () => {
    const windows = [windowOf(9, 17, ['red'])];
    const reserved = (time: string, team: string | null) => reservingWindow(windows, team, at(time)) !== null;
    expect(['08:59', '09:00', '16:59', '17:00'].map((time) => reserved(time, 'blue'))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect([reserved('12:00', 'red'), reserved('12:00', null)]).toEqual([false, true]);
  });

  it('may cross midnight', () => {
    const windows = [windowOf(22, 6, ['red'])];
    const reserved = (time: string) => reservingWindow(windows, null, at(time)) !== null;
    expect(['21:59', '22:00', '00:00', '05:59', '06:00'].map(reserved)).toEqual([false, true, true, true, false]);
  });

  it('is in the time of its timezone, as is the text of its end', () => {
    // Vienna is two hours ahead of UTC in July.
    const window = windowOf(9, 10, [], 'Europe/Vienna');
    expect(reservingWindow([window], 'red', at('07:30'))).toBe(window);
    expect(reservingWindow([window], 'red', at('09:30'))).toBeNull();
    expect(windowEndText({ ...window, endMinute: 605 })).toBe('10:05 Europe/Vienna');
  });

  it('admits a team that is in one of several current windows', () => {
    const windows = [windowOf(0, 23, ['red']), windowOf(0, 23, ['blue'])];
    expect(['red', 'blue', 'green'].map((team) => reservingWindow(windows, team, at('12:00')) === null)).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('the latency of a deployment', () => {
  const samples = [100, 200, 900].map((latencyMs, index) => ({ latencyMs, atMs: index * 1_000 }));

  it('is the mean of its latest samples, and 0 without samples', () => {
    const options = { nowMs: 3_000, isFirstToken: false };
    expect(latencyOf(samples, DEFAULT_LATENCY, options)).toBe(400);
    expect(latencyOf(samples, { ...DEFAULT_LATENCY, samples: 2 }, options)).toBe(550);
    expect(latencyOf([], DEFAULT_LATENCY, options)).toBe(0);
  });

  it('does not count samples older than the ttl', () => {
    const rule = { ...DEFAULT_LATENCY, ttlSeconds: 2 };
    expect(latencyOf(samples, rule, { nowMs: 3_000, isFirstToken: false })).toBe(550);
    expect(latencyOf(samples, rule, { nowMs: 9_000, isFirstToken: false })).toBe(0);
  });

  it('of streams is a percentile, if one is configured', () => {
    const percentile = (firstTokenPercentile: number, isFirstToken = true) =>
      latencyOf(samples, { ...DEFAULT_LATENCY, firstTokenPercentile }, { nowMs: 3_000, isFirstToken });
    expect([percentile(0.5), percentile(1), percentile(0.01), percentile(0.5, false)]).toEqual([200, 900, 100, 400]);
  });
});
