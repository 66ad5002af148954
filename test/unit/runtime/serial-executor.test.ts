import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createSerialExecutor } from '../../../src/runtime/tasks/serial-executor.ts';
import { createWorkQueueLimit } from '../../../src/runtime/tasks/work-queue-limit.ts';

const openExecutor = (tasks = 10) => createSerialExecutor(createWorkQueueLimit({ tasks, bytes: 100 }));

it('jobs run in order, at most one in each turn', async () => {
  const { run } = openExecutor();
  let turn = 0;
  let isCounting = true;
  const turnCounter = (async () => {
    while (isCounting) {
      await nextTurn();
      turn += 1;
    }
  })();
  const runs = await Promise.all([1, 2, 3].map((job) => run(() => [job, turn] as const, 1)));
  isCounting = false;
  await turnCounter;
  expect(runs.map(([job]) => job)).toEqual([1, 2, 3]);
  expect(new Set(runs.map(([, turnOfJob]) => turnOfJob)).size).toBe(3);
});

it('a job that throws rejects its own caller only, and frees its place in the queue', async () => {
  const { run } = openExecutor(2);
  const failing = run(() => {
    throw new TypeError('no');
  }, 1);
  const next = run(() => 'yes', 1);
  await expect(run(() => 'too many', 1)).rejects.toThrow(Unavailable);
  await expect(failing).rejects.toThrow(new TypeError('no'));
  expect(await next).toBe('yes');
  expect(await run(() => 'again', 1)).toBe('again');
});
