import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoredTotals } from '../../../src/domain/admission/stored-totals.ts';
import { createTotalsReader } from '../../../src/runtime/admission/totals-reader.ts';
import { UseCounter } from '../../../src/runtime/admission/use-counter.ts';

const UNAVAILABLE = new Error('The store is unavailable.');

/** A reader whose store fails every read. */
function aReader() {
  const failures: unknown[] = [];
  const totals: StoredTotals = { position: () => 0, storedThrough: () => 0, read: () => Promise.reject(UNAVAILABLE) };
  const reader = createTotalsReader({ totals, nowMs: () => 0, failed: (error) => failures.push(error) });
  return { reader, failures };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('a read of stored totals that fails', () => {
  it('in the background is reported once, also for counters that were never read', async () => {
    const { reader, failures } = aReader();
    const counters = ['a', 'b'].map((name) => new UseCounter(name));
    for (const counter of counters) reader.readAhead(counter);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(failures).toEqual([UNAVAILABLE]);
    expect(counters.map(({ reading, retryMs }) => ({ reading, retryMs }))).toEqual([
      { reading: null, retryMs: 1_000 },
      { reading: null, retryMs: 1_000 },
    ]);
  });

  it('rejects the caller of a counter that was never read, and is not reported', async () => {
    const { reader, failures } = aReader();
    await expect(reader.readNow(new UseCounter('a'))).rejects.toBe(UNAVAILABLE);
    expect(failures).toEqual([]);
  });
});
