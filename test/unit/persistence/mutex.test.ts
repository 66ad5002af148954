import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createMutex } from '../../../src/persistence/database/mutex.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it('work that waits for a minute is refused and never runs', async () => {
  const mutex = createMutex();
  const runningWork = Promise.withResolvers<string>();
  const slow = mutex(() => runningWork.promise);
  const late = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const refused = mutex(late).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(30_000);
  const next = mutex(() => Promise.resolve('next'));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await refused).toEqual(new Unavailable('Earlier changes of the same data take too long.', 2));
  runningWork.resolve('slow');
  expect(await Promise.all([slow, next])).toEqual(['slow', 'next']);
  expect(late).not.toHaveBeenCalled();
});

it('work that has begun has no deadline', async () => {
  const mutex = createMutex();
  const runningWork = Promise.withResolvers<string>();
  const slow = mutex(() => runningWork.promise);
  await vi.advanceTimersByTimeAsync(600_000);
  runningWork.resolve('slow');
  expect(await slow).toBe('slow');
  expect(vi.getTimerCount()).toBe(0);
});
