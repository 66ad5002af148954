import type * as Library from 'piscina';
import { afterEach, expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createThreadPool, transferableBuffer, type ThreadPool } from '../../../src/runtime/tasks/thread-pool.ts';
import { createWorkQueueLimit } from '../../../src/runtime/tasks/work-queue-limit.ts';
import type { TestTask } from '../../support/thread-module.ts';

let pool: ThreadPool<TestTask>;
afterEach(() => pool.close());

function open(
  threads: number,
  limits = { tasks: 10, bytes: 100 },
  loadLibrary?: () => Promise<typeof Library>,
): ThreadPool<TestTask> {
  pool = createThreadPool<TestTask>({
    module: new URL('../../support/thread-module.ts', import.meta.url),
    workerData: null,
    threads,
    heapMiB: 64,
    room: createWorkQueueLimit(limits),
    errorFrom: (failure) => new TypeError(String(failure)),
    ...(loadLibrary === undefined ? {} : { loadLibrary }),
  });
  return pool;
}

const say = (text: string): TestTask => ({ kind: 'say', text });

it('a thread pool with two threads returns to every caller the answer of its task', async () => {
  const { run } = open(2);
  const texts = ['a', 'b', 'c', 'd', 'e'];
  expect(await Promise.all(texts.map((text) => run<string>(say(text), 1)))).toEqual(texts);
});

it('a thread pool rejects a failed task with the error that `errorFrom` makes of it, and continues', async () => {
  const { run } = open(1);
  await expect(run({ kind: 'fail', text: 'no' }, 1)).rejects.toThrow(new TypeError('no'));
  expect(await run(say('yes'), 1)).toBe('yes');
});

it('a thread pool fails only the task that ended a thread; the next ones get a new thread', async () => {
  const { run } = open(1);
  const [died, next] = await Promise.allSettled([run({ kind: 'die', text: 'out of memory' }, 1), run(say('next'), 1)]);
  expect(died).toMatchObject({
    status: 'rejected',
    reason: new Unavailable('The work could not be done on its thread.'),
  });
  expect(next).toEqual({ status: 'fulfilled', value: 'next' });
});

it('a thread pool runs the queued tasks of a thread that another task ended, with their memory', async () => {
  const { run } = open(1);
  const bytes = new Uint8Array([1, 2, 3]);
  const died = run({ kind: 'die', text: 'out of memory' }, 1);
  const next = run(say('next'), 3, transferableBuffer(bytes));
  await expect(died).rejects.toThrow(Unavailable);
  expect(await next).toBe('next');
});

it('a thread pool runs small tasks on the free thread while a large task holds the other one', async () => {
  const { run } = open(2, { tasks: 20, bytes: 64 << 20 });
  const runningTask = run({ kind: 'hold', text: '' }, 2 << 20).catch((error: unknown) => error);
  const texts = ['a', 'b', 'c', 'd', 'e', 'f'];
  expect(await Promise.all(texts.map((text) => run<string>(say(text), 1)))).toEqual(texts);
  await pool.close();
  expect(await runningTask).toBeInstanceOf(Unavailable);
});

it('a thread pool refuses tasks above its limits of number and bytes, and accepts them when it has capacity again', async () => {
  const { run } = open(1, { tasks: 2, bytes: 100 });
  const runningTasks = [run(say('1'), 60), run(say('2'), 40)];
  await expect(run(say('3'), 0)).rejects.toThrow('Too many exports are waiting to be read. Try again shortly.');
  await Promise.all(runningTasks);
  const running = run(say('4'), 60);
  await expect(run(say('5'), 41)).rejects.toThrow(Unavailable);
  await running;
  // A task above the limit is accepted while it is the only one.
  expect(await run(say('6'), 1_000)).toBe('6');
});

it('a thread pool fails running and waiting tasks when it is closed', async () => {
  const { run, close } = open(1);
  const settled = Promise.allSettled([run({ kind: 'hold', text: '' }, 1), run(say('never'), 1)]);
  await close();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(run(say('late'), 1)).rejects.toThrow(Unavailable);
});

it('a thread pool moves the memory of a task, except shared memory and part of a buffer', async () => {
  const { run } = open(1);
  const bytes = new Uint8Array([1, 2, 3]);
  expect(transferableBuffer(bytes.subarray(1))).toEqual([]);
  expect(transferableBuffer(new Uint8Array(new SharedArrayBuffer(3)))).toEqual([]);
  expect(await run(say('moved'), 3, transferableBuffer(bytes))).toBe('moved');
  expect(bytes.buffer.detached).toBe(true);
});

it('a thread pool starts again with the next task after a failed start', async () => {
  let loads = 0;
  const loadLibrary = async () => {
    loads += 1;
    if (loads === 1) throw new Error('The library cannot be loaded.');
    return import('piscina');
  };
  const { run } = open(1, undefined, loadLibrary);
  const reason = new Unavailable('The work could not be done on its thread.');
  expect(await Promise.allSettled([run(say('first'), 1), run(say('second'), 1)])).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  expect(await run(say('third'), 1)).toBe('third');
  expect(loads).toBe(2);
});

it('a thread pool closes during a failing start, and after one', async () => {
  const library = Promise.withResolvers<typeof Library>();
  const during = open(1, undefined, () => library.promise);
  const task = during.run(say('never'), 1).catch((error: unknown) => error);
  const closing = during.close();
  library.reject(new Error('The library cannot be loaded.'));
  await closing;
  expect(await task).toEqual(new Unavailable('The process is ending.'));

  const after = open(1, undefined, () => Promise.reject(new Error('The library cannot be loaded.')));
  await expect(after.run(say('never'), 1)).rejects.toThrow(Unavailable);
  await after.close();
});
