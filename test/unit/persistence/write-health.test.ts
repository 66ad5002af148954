import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Conflict, Unavailable } from '../../../src/domain/errors.ts';
import { createWriteHealth } from '../../../src/persistence/database/write-health.ts';

const UNAVAILABLE = new Unavailable('The database cannot be used at the moment.');
const NO_WRITES = new Unavailable('The database takes no writes.');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function aHealth() {
  const probe = vi.fn<() => Promise<void>>(() => Promise.resolve());
  return { probe, health: createWriteHealth(probe) };
}

test('before the first write, a check runs a probe, and the next check reuses its result', async () => {
  const { probe, health } = aHealth();
  await health.check();
  await health.check();
  expect(probe).toHaveBeenCalledTimes(1);
});

test('after a successful write a check needs no probe', async () => {
  const { probe, health } = aHealth();
  health.succeeded();
  await health.check();
  expect([probe.mock.calls.length, health.failures()]).toEqual([0, 0]);
});

test('after a failed write the check fails until a probe succeeds, with at most one probe a second', async () => {
  const { probe, health } = aHealth();
  probe.mockRejectedValue(UNAVAILABLE);
  health.failed(UNAVAILABLE);
  await expect(health.check()).rejects.toEqual(NO_WRITES);
  await expect(health.check()).rejects.toEqual(NO_WRITES);
  vi.advanceTimersByTime(999);
  await expect(health.check()).rejects.toEqual(NO_WRITES);
  expect(probe).toHaveBeenCalledTimes(1);
  probe.mockResolvedValue();
  vi.advanceTimersByTime(1);
  await health.check();
  expect([probe.mock.calls.length, health.failures()]).toEqual([2, 1]);
});

test('a later successful write does not end the failure, because it may use other tables', async () => {
  const { probe, health } = aHealth();
  probe.mockRejectedValue(UNAVAILABLE);
  health.failed(UNAVAILABLE);
  health.succeeded();
  await expect(health.check()).rejects.toEqual(NO_WRITES);
});

test('concurrent checks share a probe and wait a second for it; its late success ends the failure', async () => {
  const { probe, health } = aHealth();
  const answer = Promise.withResolvers<void>();
  probe.mockReturnValue(answer.promise);
  health.failed(UNAVAILABLE);
  const checks = Promise.allSettled([health.check(), health.check()]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await checks).toEqual([
    { status: 'rejected', reason: NO_WRITES },
    { status: 'rejected', reason: NO_WRITES },
  ]);
  answer.resolve();
  await health.check();
  expect(probe).toHaveBeenCalledTimes(1);
});

test('a write that fails while a probe runs fails the check, although the probe succeeds', async () => {
  const { probe, health } = aHealth();
  const answer = Promise.withResolvers<void>();
  probe.mockReturnValueOnce(answer.promise);
  health.failed(UNAVAILABLE);
  const check = health.check();
  health.failed(UNAVAILABLE);
  answer.resolve();
  await expect(check).rejects.toEqual(NO_WRITES);
});

test('after an error about the data, a check depends on a probe, and a Conflict is not counted', async () => {
  const { probe, health } = aHealth();
  health.succeeded();
  for (let attempt = 0; attempt < 3; attempt += 1) {
    health.failed(new Error('NOT NULL constraint failed'));
    health.failed(new Conflict('This key already exists.'));
    await health.check();
  }
  expect([probe.mock.calls.length, health.failures()]).toEqual([1, 3]);
});
