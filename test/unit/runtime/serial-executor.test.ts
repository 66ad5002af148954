import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createSerialExecutor } from '../../../src/runtime/tasks/serial-executor.ts';
import { createWorkQueueLimit } from '../../../src/runtime/tasks/work-queue-limit.ts';

const openExecutor = (tasks = 10) => createSerialExecutor(createWorkQueueLimit({ tasks, bytes: 100 }));

it('jobs run in order, at most one in each turn', async () => {
  const { run } = openExecutor();
  let turn = 0;
  let counting = true;
  const turnCounter = (async () => {
    for (; counting; turn += 1) await nextTurn();
  })();
  const turns = await Promise.all([1, 2, 3].map((name) => run(() => [name, turn] as const, 1)));
  counting = false;
  await turnCounter;
  expect(turns.map(([name]) => name)).toEqual([1, 2, 3]);
  expect(new Set(turns.map(([, at]) => at)).size).toBe(3);
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
