import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createConnectionQueue } from '../../../src/persistence/sqlite/connection-queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('turns on a connection run one at a time, in the order of their requests', async () => {
  const turns = createConnectionQueue(1_000);
  const order: number[] = [];
  let running = 0;
  const users = Array.from({ length: 5 }, async (_, user) => {
    const end = await turns.next();
    running += 1;
    expect(running).toBe(1);
    order.push(user);
    await Promise.resolve();
    running -= 1;
    end();
    // A second end does not end the turn of the next user.
    end();
  });
  await Promise.all(users);
  expect(order).toEqual([0, 1, 2, 3, 4]);
});

test('a turn that does not begin before its deadline fails with Unavailable, and the next user gets its turn', async () => {
  const turns = createConnectionQueue(1_000);
  const end = await turns.next();
  const late = turns.next().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(999);
  const inTime = turns.next();
  await vi.advanceTimersByTimeAsync(1);
  expect(await late).toEqual(new Unavailable('The database is busy. Try again shortly.'));
  end();
  // Two further turns begin and end.
  (await inTime)();
  (await turns.next())();
});
