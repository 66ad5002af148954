import { describe, expect, it } from 'vitest';
import { createWriteBehind } from '../../../src/runtime/write-behind.ts';

const unexpected = (): never => {
  throw new Error('unexpected');
};

describe('write-behind', () => {
  it('commits what was pushed, in order, in few batches', async () => {
    const commits: number[][] = [];
    const queue = createWriteBehind<number>({
      async commit(items) {
        commits.push([...items]);
      },
      failed: unexpected,
      dropped: unexpected,
    });
    for (let item = 0; item < 4_500; item += 1) queue.push(item);
    expect(queue.waiting()).toBe(4_500);
    await queue.flush();
    expect(commits.map((items) => items.length)).toEqual(Array(9).fill(500));
    expect(commits.flat()).toEqual(Array.from({ length: 4_500 }, (_, item) => item));
    expect(queue.waiting()).toBe(0);
  });

  it('commits by itself soon after a push', async () => {
    const committed = new Promise<readonly string[]>((resolve) => {
      createWriteBehind<string>({
        async commit(items) {
          resolve(items);
        },
        failed: unexpected,
        dropped: unexpected,
      }).push('one');
    });
    expect(await committed).toEqual(['one']);
  });

  it('tries a failed commit again with the same records and those that came meanwhile', async () => {
    const failures: number[] = [];
    const commits: string[][] = [];
    const queue = createWriteBehind<string>({
      async commit(items) {
        if (failures.length === 0) throw new Error('away');
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

  it('rejects a flush that cannot commit and keeps the records', async () => {
    const queue = createWriteBehind<string>({
      commit: () => Promise.reject(new Error('away')),
      failed: () => {},
      dropped: unexpected,
    });
    queue.push('kept');
    await expect(queue.flush()).rejects.toThrow('away');
    expect(queue.waiting()).toBe(1);
  });

  it('pushes the oldest out, and counts it, when the store stays away', () => {
    let dropped = 0;
    const queue = createWriteBehind<number>({
      commit: () => new Promise(() => {}),
      failed: unexpected,
      dropped: (count) => {
        dropped += count;
      },
    });
    for (let item = 0; item < 200_010; item += 1) queue.push(item);
    expect([queue.waiting(), dropped]).toEqual([200_000, 10]);
  });

  it('lets a reader wait for what was pushed before it came, and no longer', async () => {
    const commits: string[][] = [];
    const queue = createWriteBehind<string>({
      async commit(items) {
        commits.push([...items]);
        if (commits.length < 5) queue.push('meanwhile');
      },
      failed: unexpected,
      dropped: unexpected,
    });
    queue.push('before');
    await queue.caughtUp(60_000);
    expect(commits).toEqual([['before']]);
    await queue.flush();
  });

  it('does not hold a reader up for a store that hangs or fails', async () => {
    const hanging = createWriteBehind<string>({
      commit: () => new Promise(() => {}),
      failed: unexpected,
      dropped: unexpected,
    });
    hanging.push('kept');
    await hanging.caughtUp(1);
    const failures: unknown[] = [];
    const failing = createWriteBehind<string>({
      commit: () => Promise.reject(new Error('away')),
      failed: (error) => failures.push(error),
      dropped: unexpected,
    });
    failing.push('kept');
    await failing.caughtUp(60_000);
    expect([hanging.waiting(), failing.waiting(), failures]).toEqual([1, 1, [new Error('away')]]);
  });
});
