import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withDeadline } from '../../../src/domain/with-deadline.ts';

const throwLate = (): never => {
  throw new Error('late');
};

describe('work with a deadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('settles like the work, and leaves no timer', async () => {
    expect(await withDeadline(Promise.resolve('done'), 100, throwLate)).toBe('done');
    await expect(withDeadline(Promise.reject(new Error('failed')), 100, throwLate)).rejects.toThrow('failed');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('settles like the timeout function after the deadline', async () => {
    const settled: unknown[] = [];
    const never = new Promise<string>(() => {});
    void withDeadline(never, 100, () => 'late').then((value) => settled.push(value));
    void withDeadline(never, 100, throwLate).catch((error: unknown) => settled.push(String(error)));
    await vi.advanceTimersByTimeAsync(99);
    expect(settled).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(settled).toEqual(['late', 'Error: late']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ignores the failure of late work', async () => {
    const work = Promise.withResolvers<string>();
    const result = withDeadline(work.promise, 100, () => 'late');
    await vi.advanceTimersByTimeAsync(100);
    work.reject(new Error('failed'));
    expect(await result).toBe('late');
  });

  it('uses a result that arrives before the timeout function settles', async () => {
    const work = Promise.withResolvers<string>();
    const result = withDeadline(work.promise, 100, async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return 'late';
    });
    await vi.advanceTimersByTimeAsync(109);
    work.resolve('done');
    expect(await result).toBe('done');
  });
});
