import { describe, expect, it, vi } from 'vitest';
import { createWriteBehind, type Fault } from '../../../src/runtime/tasks/write-behind.ts';

const unexpected = (): never => {
  throw new Error('unexpected');
};
/** Options for a store whose failures are never those of a record. */
const storeFaultsOnly = { faultOf: (): Fault => 'store', refused: unexpected };

const REFUSED_RECORD = new Error('no column accepts it');
const STORE_UNAVAILABLE = new Error('unavailable');

/** A queue over a store that refuses batches with one of these records, and all batches while `state.error` is set. */
function queueWithRefusingStore(refusedItems: readonly number[]) {
  const refused: [number, unknown][] = [];
  const failures: unknown[] = [];
  const commits: number[][] = [];
  const state = { error: null as Error | null };
  const queue = createWriteBehind<number>({
    async commit(items) {
      if (state.error) throw state.error;
      if (items.some((item) => refusedItems.includes(item))) throw REFUSED_RECORD;
      commits.push([...items]);
    },
    // `either`: the error does not say whether the store or a record is at fault.
    faultOf: (error) => (error === STORE_UNAVAILABLE ? 'store' : 'either'),
    failed: (error) => failures.push(error),
    dropped: unexpected,
    refused: (item, error) => refused.push([item, error]),
  });
  return { queue, refused, failures, commits, state };
}

describe('write-behind', () => {
  it('commits records in order, in batches of at most 1,000', async () => {
    const commits: number[][] = [];
    const queue = createWriteBehind<number>({
      ...storeFaultsOnly,
      async commit(items) {
        commits.push([...items]);
      },
      failed: unexpected,
      dropped: unexpected,
    });
    for (let item = 0; item < 4_500; item += 1) queue.push(item);
    expect(queue.waiting()).toBe(4_500);
    await queue.flush();
    expect(commits.map((items) => items.length)).toEqual([1_000, 1_000, 1_000, 1_000, 500]);
    expect(commits.flat()).toEqual(Array.from({ length: 4_500 }, (_, item) => item));
    expect(queue.waiting()).toBe(0);
  });

  it('commits soon after a push', async () => {
    const committed = new Promise<readonly string[]>((resolve) => {
      createWriteBehind<string>({
        ...storeFaultsOnly,
        async commit(items) {
          resolve(items);
        },
        failed: unexpected,
        dropped: unexpected,
      }).push('one');
    });
    expect(await committed).toEqual(['one']);
  });

  it('repeats a failed commit attempt with the same records and later ones', async () => {
    const failures: number[] = [];
    const commits: string[][] = [];
    const queue = createWriteBehind<string>({
      ...storeFaultsOnly,
      async commit(items) {
        if (failures.length === 0) throw new Error('unavailable');
        commits.push([...items]);
      },
      failed: (_error, waiting) => {
        failures.push(waiting);
        queue.push('second');
      },
      dropped: unexpected,
    });
    queue.push('first');
    await expect.poll(() => commits).toEqual([['first', 'second']]);
    expect(failures).toEqual([1]);
  });

  it('rejects a flush that cannot commit, and keeps its records', async () => {
    const queue = createWriteBehind<string>({
      ...storeFaultsOnly,
      commit: () => Promise.reject(new Error('unavailable')),
      failed: () => {},
      dropped: unexpected,
    });
    queue.push('kept');
    await expect(queue.flush()).rejects.toThrow('unavailable');
    expect(queue.waiting()).toBe(1);
  });

  it('drops and counts records above 200,000 while a commit hangs', () => {
    let dropped = 0;
    const queue = createWriteBehind<number>({
      ...storeFaultsOnly,
      commit: () => new Promise(() => {}),
      failed: unexpected,
      dropped: (count) => {
        dropped += count;
      },
    });
    for (let item = 0; item < 200_010; item += 1) queue.push(item);
    expect([queue.waiting(), dropped]).toEqual([200_000, 10]);
  });

  it('lets a reader wait for earlier records only', async () => {
    const commits: string[][] = [];
    const queue = createWriteBehind<string>({
      ...storeFaultsOnly,
      async commit(items) {
        commits.push([...items]);
        if (commits.length < 5) queue.push('meanwhile');
      },
      failed: unexpected,
      dropped: unexpected,
    });
    queue.push('before');
    expect([await queue.caughtUp(60_000), commits]).toEqual([true, [['before']]]);
    await queue.flush();
  });

  it('limits the wait of a reader for a store that hangs or fails', async () => {
    const hanging = createWriteBehind<string>({
      ...storeFaultsOnly,
      commit: () => new Promise(() => {}),
      failed: unexpected,
      dropped: unexpected,
    });
    hanging.push('kept');
    expect(await hanging.caughtUp(1)).toBe(false);
    const failures: unknown[] = [];
    const failing = createWriteBehind<string>({
      ...storeFaultsOnly,
      commit: () => Promise.reject(new Error('unavailable')),
      failed: (error) => failures.push(error),
      dropped: unexpected,
    });
    failing.push('kept');
    expect(await failing.caughtUp(60_000)).toBe(false);
    expect([hanging.waiting(), failing.waiting(), failures]).toEqual([1, 1, [new Error('unavailable')]]);
  });

  it('commits a record that is pushed during the commit of a reader, also without a further call', async () => {
    const commits: string[][] = [];
    const queue = createWriteBehind<string>({
      ...storeFaultsOnly,
      async commit(items) {
        commits.push([...items]);
        if (commits.length === 1) queue.push('later');
      },
      failed: unexpected,
      dropped: unexpected,
    });
    queue.push('first');
    expect(await queue.caughtUp(60_000)).toBe(true);
    await expect.poll(() => commits).toEqual([['first'], ['later']]);
    expect(queue.waiting()).toBe(0);
  });

  it.each(['caughtUp', 'flush'] as const)(
    'repeats the failed commit attempt of %s without a further call',
    async (method) => {
      const commits: string[][] = [];
      let isAvailable = false;
      const queue = createWriteBehind<string>({
        ...storeFaultsOnly,
        async commit(items) {
          if (!isAvailable) throw STORE_UNAVAILABLE;
          commits.push([...items]);
        },
        failed: () => {},
        dropped: unexpected,
      });
      queue.push('kept');
      await Promise.allSettled([method === 'flush' ? queue.flush() : queue.caughtUp(60_000)]);
      isAvailable = true;
      await expect.poll(() => commits).toEqual([['kept']]);
    },
  );

  it('ends its retries ten seconds after a flush', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      let attempts = 0;
      const queue = createWriteBehind<string>({
        ...storeFaultsOnly,
        async commit() {
          attempts += 1;
          throw STORE_UNAVAILABLE;
        },
        failed: () => {},
        dropped: unexpected,
      });
      queue.push('kept');
      await expect(queue.flush()).rejects.toThrow('unavailable');
      await vi.advanceTimersByTimeAsync(11_000);
      // The flush, and a retry each half second.
      expect(attempts).toBe(21);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(attempts).toBe(21);
    } finally {
      vi.useRealTimers();
    }
  });

  it('reports a record that the store refuses, and commits the others of its batch in order', async () => {
    const { queue, refused, commits } = queueWithRefusingStore([3, 7]);
    for (let item = 0; item < 10; item += 1) queue.push(item);
    await queue.flush();
    expect(commits.flat()).toEqual([0, 1, 2, 4, 5, 6, 8, 9]);
    expect(refused).toEqual([
      [3, REFUSED_RECORD],
      [7, REFUSED_RECORD],
    ]);
    expect(queue.waiting()).toBe(0);
  });

  it('keeps its records when the store refuses all of them, and retries with the next record', async () => {
    const { queue, refused, commits } = queueWithRefusingStore([1]);
    queue.push(1);
    await expect(queue.flush()).rejects.toBe(REFUSED_RECORD);
    expect([queue.waiting(), refused]).toEqual([1, []]);
    queue.push(2);
    await queue.flush();
    expect([commits, refused, queue.waiting()]).toEqual([[[2]], [[1, REFUSED_RECORD]], 0]);
  });

  it('loses nothing when the whole store fails', async () => {
    const { queue, refused, commits, state } = queueWithRefusingStore([]);
    for (let item = 0; item < 5; item += 1) queue.push(item);
    for (const error of [new Error('no such table'), STORE_UNAVAILABLE]) {
      state.error = error;
      await expect(queue.flush()).rejects.toBe(error);
    }
    state.error = null;
    await queue.flush();
    expect([commits, refused]).toEqual([[[0, 1, 2, 3, 4]], []]);
  });

  it('reports a record immediately, also a single one, when the error is known to be of the record', async () => {
    const refused: number[] = [];
    const queue = createWriteBehind<number>({
      commit: () => Promise.reject(REFUSED_RECORD),
      faultOf: () => 'record',
      failed: unexpected,
      dropped: unexpected,
      refused: (item) => refused.push(item),
    });
    queue.push(1);
    await queue.flush();
    expect([refused, queue.waiting()]).toEqual([[1], 0]);
  });

  it('counts a refused record as settled', async () => {
    const { queue, refused } = queueWithRefusingStore([2]);
    for (const item of [1, 2, 3]) queue.push(item);
    await queue.flush();
    expect([queue.settledCount(), refused]).toEqual([3, [[2, REFUSED_RECORD]]]);
  });
});

describe('a read with write-behind', () => {
  /** A queue whose commits the test ends. */
  function heldQueue() {
    const commits: { readonly items: readonly number[]; readonly end: () => void }[] = [];
    const queue = createWriteBehind<number>({
      ...storeFaultsOnly,
      commit: (items) => new Promise((resolve) => commits.push({ items, end: resolve })),
      failed: unexpected,
      dropped: unexpected,
    });
    return { queue, commits };
  }
  const nextImmediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('runs between two commits, with the stored state', async () => {
    const { queue, commits } = heldQueue();
    queue.push(1);
    const flushed = queue.flush();
    await nextImmediate();
    const read = queue.betweenCommits(async () => queue.settledCount(), 60_000);
    queue.push(2);
    expect([queue.settledCount(), commits.length]).toEqual([0, 1]);
    commits[0]?.end();
    expect(await read).toBe(1);
    await nextImmediate();
    commits[1]?.end();
    await flushed;
    expect([queue.settledCount(), queue.waiting()]).toEqual([2, 0]);
  });

  it('delays the next commit until the read has ended, also when the read fails', async () => {
    const { queue, commits } = heldQueue();
    const answer = Promise.withResolvers<never>();
    const read = queue.betweenCommits(() => answer.promise, 60_000);
    queue.push(1);
    const flushed = queue.flush();
    await nextImmediate();
    expect(commits.length).toBe(0);
    answer.reject(new Error('unavailable'));
    await expect(read).rejects.toThrow('unavailable');
    await nextImmediate();
    commits[0]?.end();
    await flushed;
  });

  it('waits for a commit until its deadline only', async () => {
    const { queue, commits } = heldQueue();
    queue.push(1);
    const flushed = queue.flush();
    await nextImmediate();
    let reads = 0;
    const read = queue.betweenCommits(async () => {
      reads += 1;
      return queue.settledCount();
    }, 1);
    expect(await read).toBe(0);
    commits[0]?.end();
    await flushed;
    await nextImmediate();
    expect([queue.settledCount(), reads]).toEqual([1, 1]);
  });
});
