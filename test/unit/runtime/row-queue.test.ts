import { describe, expect, it, vi } from 'vitest';
import { Conflict, Unavailable } from '../../../src/domain/errors.ts';
import { createRowQueue } from '../../../src/runtime/tasks/row-queue.ts';
import { POLLING } from '../../support/polling.ts';

interface Row {
  readonly id: string;
}

/** A queue over a store whose next writes fail with these errors, with its stored rows and log lines. */
function openQueue(...failures: (Error | null)[]) {
  const stored: string[] = [];
  const logged: (readonly [object, string])[] = [];
  const queue = createRowQueue<Row>({
    noun: 'samples',
    store: {
      async add(...rows) {
        const failure = failures.shift() ?? null;
        if (failure !== null) throw failure;
        stored.push(...rows.map(({ id }) => id));
      },
    },
    log: { error: (facts: object, event: string) => void logged.push([facts, event]) },
  });
  return { queue, stored, logged };
}

describe('a queue of rows', () => {
  it('stores rows before a waiting read, and the remaining rows at shutdown', async () => {
    const { queue, stored, logged } = openQueue();
    queue.enqueue({ id: 'a' });
    expect(await queue.caughtUp()).toBe(true);
    expect(stored).toEqual(['a']);
    queue.enqueue({ id: 'b' });
    await queue.flush();
    expect([stored, logged]).toEqual([['a', 'b'], []]);
  });

  it('drops a row that the store refuses, and stores the others', async () => {
    const conflict = new Conflict('The id is taken.');
    // The batch fails, then the first row alone.
    const { queue, stored, logged } = openQueue(conflict, conflict);
    queue.enqueue({ id: 'taken' });
    queue.enqueue({ id: 'free' });
    await vi.waitFor(() => expect(stored).toEqual(['free']), POLLING);
    expect(logged).toEqual([[{ err: conflict, id: 'taken' }, 'the store refused one of the samples']]);
  });

  it('retries while the store is unavailable', async () => {
    const away = new Unavailable('The database is unavailable.');
    const { queue, stored, logged } = openQueue(away);
    queue.enqueue({ id: 'a' });
    await vi.waitFor(() => expect(stored).toEqual(['a']), POLLING);
    expect(logged).toEqual([[{ err: away, waiting: 1 }, 'samples could not be stored; trying again']]);
  });
});
