import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QUERY_LIMITS } from '../../../src/domain/traces/trace-query.ts';
import { createQueryTurns, type QueryTurns } from '../../../src/persistence/trace-query/query-turns.ts';

const NEVER_ABORTED = new AbortController().signal;
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

let turns: QueryTurns;
let started: string[];
let ends: Map<string, () => void>;

beforeEach(() => {
  turns = createQueryTurns();
  started = [];
  ends = new Map();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Queues a query. It runs until the test calls its function in `ends`. */
function query(owner: string, name = owner, signal = NEVER_ABORTED): Promise<string> {
  const ended = turns.run(owner, signal, () => {
    started.push(name);
    return new Promise<string>((resolve) => {
      ends.set(name, () => resolve(name));
    });
  });
  ended.catch(() => undefined);
  return ended;
}

describe('queries of traces', () => {
  it('run at most one for each owner and two in total, and the others wait in order of arrival', async () => {
    const queries = [query('a', 'a1'), query('a', 'a2'), query('b'), query('c')];
    await settled();
    expect(started).toEqual(['a1', 'b']);
    ends.get('b')?.();
    await settled();
    expect(started).toEqual(['a1', 'b', 'c']);
    ends.get('a1')?.();
    await settled();
    expect(started).toEqual(['a1', 'b', 'c', 'a2']);
    for (const end of ends.values()) end();
    expect(await Promise.all(queries)).toEqual(['a1', 'a2', 'b', 'c']);
  });

  it('are refused while another query of the owner waits, and while too many wait', async () => {
    void query('a', 'a1');
    void query('a', 'a2');
    await expect(query('a', 'a3')).rejects.toMatchObject({ name: 'Unavailable', retryAfterSeconds: 2 });
    void query('b');
    // `a2` waits already.
    for (let index = 1; index < QUERY_LIMITS.waiting; index += 1) void query(`waiting-${index}`);
    await expect(query('c')).rejects.toMatchObject({ name: 'Unavailable', retryAfterSeconds: 2 });
  });

  it('leave the queue at the deadline and when the caller disconnects', async () => {
    vi.useFakeTimers();
    void query('a', 'a1');
    const late = query('a', 'a2');
    vi.advanceTimersByTime(QUERY_LIMITS.timeMs);
    await expect(late).rejects.toMatchObject({ name: 'Unavailable' });
    const disconnect = new AbortController();
    const cancelled = query('a', 'a3', disconnect.signal);
    await settled();
    disconnect.abort(new Error('The caller left.'));
    await expect(cancelled).rejects.toThrow('The caller left.');
    void query('a', 'a4');
    ends.get('a1')?.();
    await settled();
    expect(started).toEqual(['a1', 'a4']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leave the queue before a query that ends at the same time starts the next one', async () => {
    void query('a', 'a1');
    const disconnect = new AbortController();
    const cancelled = query('a', 'a2', disconnect.signal);
    await settled();
    // Both before the next microtask.
    ends.get('a1')?.();
    disconnect.abort(new Error('The caller left.'));
    await expect(cancelled).rejects.toThrow('The caller left.');
    void query('a', 'a3');
    await settled();
    expect(started).toEqual(['a1', 'a3']);
  });
});
