import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCatalogSource } from '../../../src/runtime/catalog/source.ts';
import { aScheduler } from '../../support/scheduler.ts';

const silentLog = { debug() {}, info() {}, warn() {}, error() {} };
const clock = { now: () => new Date(0), monotonicMs: () => 0 };

describe('the refresh loop', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const HOUR = 3_600;

  /**
   * A source that fails all requests, and the number of requests. Failures extend a wait to at most 15 minutes, so they
   * do not change a wait of an hour.
   */
  function failingSource(refreshSeconds: number, headers: Record<string, string> = {}) {
    let requestCount = 0;
    const fetch = () => {
      requestCount += 1;
      return Promise.resolve(new Response(null, { status: 429, headers }));
    };
    const source = createCatalogSource({
      url: 'http://test',
      refreshSeconds,
      scheduler: aScheduler(),
      clock,
      log: silentLog,
      fetch,
      random: () => 0.5,
    });
    return { source, requestCount: () => requestCount };
  }

  it('begins immediately, repeats at the interval and ends with stop', async () => {
    const { source, requestCount } = failingSource(HOUR);
    source.start();
    await vi.advanceTimersByTimeAsync(0);
    const atStart = requestCount();
    await vi.advanceTimersByTimeAsync(3 * HOUR * 1000);
    const afterThreeHours = requestCount();
    source.stop();
    await vi.advanceTimersByTimeAsync(3 * HOUR * 1000);
    expect([atStart, afterThreeHours, requestCount()]).toEqual([1, 4, 4]);
  });

  it('does not begin twice', async () => {
    const { source, requestCount } = failingSource(HOUR);
    source.start();
    source.start();
    await vi.advanceTimersByTimeAsync(HOUR * 1000);
    source.stop();
    expect(requestCount()).toBe(2);
  });

  it.each([
    ['seconds', String(3 * HOUR)],
    ['a date', new Date(Date.UTC(2026, 0, 1, 3)).toUTCString()],
  ])('waits as long as the source requests, in %s', async (_format, retryAfter) => {
    vi.setSystemTime(Date.UTC(2026, 0, 1));
    const { source, requestCount } = failingSource(HOUR, { 'retry-after': retryAfter });
    source.start();
    await vi.advanceTimersByTimeAsync(3 * HOUR * 1000 - 1);
    const before = requestCount();
    await vi.advanceTimersByTimeAsync(1);
    source.stop();
    expect([before, requestCount()]).toEqual([1, 2]);
  });

  it('does not begin when the interval is zero', async () => {
    const { source, requestCount } = failingSource(0);
    source.start();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(requestCount()).toBe(0);
  });

  it('cancels a download in progress when it stops', async () => {
    let ended = false;
    const source = createCatalogSource({
      url: 'http://test',
      refreshSeconds: 60,
      scheduler: aScheduler(),
      clock,
      log: silentLog,
      fetch: (_url, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            ended = true;
            reject(new Error('aborted'));
          });
        }),
    });
    source.start();
    await vi.advanceTimersByTimeAsync(0);
    source.stop();
    await vi.advanceTimersByTimeAsync(600_000);
    expect([ended, source.status().lastError]).toEqual([true, null]);
  });
});
