import { describe, expect, it, vi } from 'vitest';
import { countedRouteOf } from '../../../src/domain/gateway-activity/classifier.ts';
import type { ActivityBatch, CountedRoute } from '../../../src/domain/gateway-activity/gateway-activity.ts';
import { createActivityCounter } from '../../../src/recording/gateway-activity.ts';
import { createScheduler } from '../../../src/runtime/tasks/scheduler.ts';

const routeOf = (path: string): CountedRoute => {
  const route = countedRouteOf('POST', path);
  if (route === null) throw new Error(`${path} is not counted.`);
  return route;
};
const CHAT = routeOf('/chat/completions');
const EMBEDDINGS = routeOf('/embeddings');

/** A counter over a store that writes each batch once and can be made unavailable. */
function aCounter({ everyMs = 10_000 } = {}) {
  const storedBatches = new Map<number, ActivityBatch>();
  const failures: unknown[] = [];
  const reports: unknown[] = [];
  let now = new Date('2026-11-23T12:00:00Z');
  const store = { isUnavailable: false, losesAnswers: false, adds: 0 };
  const counter = createActivityCounter({
    process: 'p1',
    everyMs,
    clock: { now: () => now, monotonicMs: () => 0 },
    onCounts: (counts) => reports.push(counts),
    scheduler: createScheduler({ warn: (facts) => void failures.push(facts) }),
    store: {
      async add(batch) {
        store.adds += 1;
        if (store.isUnavailable) throw new Error('away');
        if (!storedBatches.has(batch.number)) storedBatches.set(batch.number, batch);
        if (store.losesAnswers) throw new Error('answer lost');
      },
    },
  });
  const totals = (): Record<string, readonly [number, number]> => {
    const sums: Record<string, [number, number]> = {};
    for (const { day, route, succeeded, failed } of [...storedBatches.values()].flatMap(({ rows }) => rows)) {
      const [succeededBefore, failedBefore] = sums[`${day} ${route}`] ?? [0, 0];
      sums[`${day} ${route}`] = [succeededBefore + succeeded, failedBefore + failed];
    }
    return sums;
  };
  return {
    counter,
    store,
    totals,
    failures,
    reports,
    storedBatches,
    setNow(text: string): void {
      now = new Date(text);
    },
  };
}

describe('the counter of requests', () => {
  it('counts 200 to 299 as success and everything else as failure', async () => {
    const { counter, totals } = aCounter();
    for (const status of [200, 204, 299]) counter.count(CHAT, status);
    for (const status of [0, 199, 300, 307, 401, 429, 500, 503]) counter.count(CHAT, status);
    counter.count(EMBEDDINGS, 200);
    await counter.flush();
    expect(totals()).toEqual({ '2026-11-23 /chat/completions': [3, 8], '2026-11-23 /embeddings': [1, 0] });
  });

  it('counts by the UTC day of the end of a request', async () => {
    const { counter, totals, setNow } = aCounter();
    setNow('2026-11-23T23:59:59.999Z');
    counter.count(CHAT, 200);
    setNow('2026-11-24T00:00:00Z');
    counter.count(CHAT, 500);
    setNow('2026-11-23T23:59:59Z');
    counter.count(CHAT, 200);
    await counter.flush();
    expect(totals()).toEqual({ '2026-11-23 /chat/completions': [2, 0], '2026-11-24 /chat/completions': [0, 1] });
  });

  it('writes nothing when nothing was counted', async () => {
    const { counter, store } = aCounter();
    await counter.flush();
    expect(store.adds).toBe(0);
  });

  it('keeps counts while the store is unavailable, and adds later counts', async () => {
    const { counter, store, totals } = aCounter();
    store.isUnavailable = true;
    counter.count(CHAT, 200);
    await expect(counter.flush()).rejects.toThrow('away');
    counter.count(CHAT, 200);
    await expect(counter.flush()).rejects.toThrow('away');
    store.isUnavailable = false;
    await counter.flush();
    expect(totals()).toEqual({ '2026-11-23 /chat/completions': [2, 0] });
  });

  it('repeats a batch unchanged when the answer of its commit is lost', async () => {
    const { counter, store, totals, storedBatches } = aCounter();
    store.losesAnswers = true;
    counter.count(CHAT, 200);
    await expect(counter.flush()).rejects.toThrow('answer lost');
    counter.count(CHAT, 429);
    await expect(counter.flush()).rejects.toThrow('answer lost');
    store.losesAnswers = false;
    await counter.flush();
    expect(totals()).toEqual({ '2026-11-23 /chat/completions': [1, 1] });
    expect([...storedBatches.keys()]).toEqual([1, 2]);
  });

  it('reports new counts once a second, and nothing without a count', async () => {
    vi.useFakeTimers();
    try {
      const { counter, reports } = aCounter();
      counter.start();
      counter.count(CHAT, 200);
      counter.count(CHAT, 500);
      await vi.advanceTimersByTimeAsync(3_000);
      counter.count(EMBEDDINGS, 200);
      await vi.advanceTimersByTimeAsync(1_000);
      counter.stop();
      counter.count(CHAT, 200);
      await vi.advanceTimersByTimeAsync(3_000);
      expect(reports).toEqual([
        [{ category: 'llm', route: '/chat/completions', succeeded: 1, failed: 1 }],
        [{ category: 'llm', route: '/embeddings', succeeded: 1, failed: 0 }],
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('counts each request once in concurrent flushes', async () => {
    const { counter, totals } = aCounter();
    counter.count(CHAT, 200);
    const runningFlush = counter.flush();
    counter.count(CHAT, 200);
    await Promise.all([runningFlush, counter.flush()]);
    expect(totals()).toEqual({ '2026-11-23 /chat/completions': [2, 0] });
  });

  it('flushes periodically, also after a failure, until it is stopped', async () => {
    vi.useFakeTimers();
    try {
      const { counter, store, totals, failures } = aCounter({ everyMs: 2_000 });
      counter.start();
      counter.count(CHAT, 200);
      store.isUnavailable = true;
      await vi.advanceTimersByTimeAsync(4_000);
      expect(failures).toEqual(Array.from({ length: 2 }, () => ({ err: new Error('away'), task: 'request-counts' })));
      expect(totals()).toEqual({});
      store.isUnavailable = false;
      await vi.advanceTimersByTimeAsync(2_000);
      expect(totals()).toEqual({ '2026-11-23 /chat/completions': [1, 0] });
      counter.stop();
      counter.count(CHAT, 200);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(totals()).toEqual({ '2026-11-23 /chat/completions': [1, 0] });
    } finally {
      vi.useRealTimers();
    }
  });
});
