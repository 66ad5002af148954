import { describe, expect, it } from 'vitest';
import {
  ENDED,
  mapStream,
  nextOf,
  toPollable,
  type PollableStream,
  revocable,
} from '../../../src/domain/pollable-stream.ts';

/** A source with values of the test. It records whether it was returned. */
function handFed<Item>() {
  const items: Item[] = [];
  let ready: (() => void) | null = null;
  let over = false;
  const stream: PollableStream<Item> = {
    [Symbol.asyncIterator]: () => stream,
    poll() {
      const value = items.shift();
      if (value !== undefined) return { done: false, value };
      return over ? ENDED : null;
    },
    whenReady: (look) => void (ready = look),
    fork: () => null,
    isDrained: () => false,
    next: () => nextOf(stream),
    return() {
      items.length = 0;
      end();
      return Promise.resolve(ENDED);
    },
  };
  function wake(): void {
    const look = ready;
    ready = null;
    if (look) queueMicrotask(look);
  }
  function end(): void {
    over = true;
    wake();
  }
  function give(...more: readonly Item[]): void {
    items.push(...more);
    wake();
  }
  return { stream, give, end, left: () => over };
}

const tagged = (value: number): { readonly value: number } => ({ value });

describe('a stream that can be polled', () => {
  it('is empty until a value is pushed, and wakes waiting readers', async () => {
    const { stream, give } = handFed<number>();
    const shown = mapStream(stream, tagged);
    expect(shown.poll()).toBeNull();
    const readyPromise = new Promise<void>((resolve) => shown.whenReady(resolve));
    give(1, 2);
    await readyPromise;
    expect([shown.poll(), shown.poll(), shown.poll()]).toEqual([
      { done: false, value: { value: 1 } },
      { done: false, value: { value: 2 } },
      null,
    ]);
  });

  it('excludes filtered values, also with asynchronous filters, and keeps the order', async () => {
    const { stream, give, end } = handFed<number>();
    give(...Array.from({ length: 12 }, (_, at) => at + 1));
    end();
    const shown = mapStream(stream, (value) => {
      const storedPrompt = value % 3 === 0 ? null : tagged(value);
      return value % 2 === 0 ? Promise.resolve(storedPrompt) : storedPrompt;
    });
    const values: number[] = [];
    for await (const { value } of shown) values.push(value);
    expect(values).toEqual([1, 2, 4, 5, 7, 8, 10, 11]);
    expect(shown.poll()).toEqual(ENDED);
  });

  it.each([
    ['later', () => Promise.reject(new Error('not for you'))],
    [
      'immediately',
      () => {
        throw new Error('not for you');
      },
    ],
  ])('ends when its filter fails %s, and returns its source', async (_when, fail) => {
    const { stream, give, left } = handFed<number>();
    const shown = mapStream(stream, fail);
    const waiting = shown.next();
    give(1, 2);
    await expect(waiting).rejects.toThrow('not for you');
    expect([left(), await shown.next()]).toEqual([true, ENDED]);
  });

  it('ends immediately when its reader returns it, also while it waits', async () => {
    const { stream, left } = handFed<number>();
    const shown = mapStream(mapStream(stream, tagged), tagged as never);
    const waiting = shown.next();
    expect(await shown.return()).toEqual(ENDED);
    expect([left(), await waiting, shown.poll()]).toEqual([true, ENDED, ENDED]);
  });

  it('can be made of any stream, and forwards its failure and end', async () => {
    async function* counting(): AsyncGenerator<number> {
      yield 1;
      await Promise.resolve();
      yield 2;
      throw new Error('no more');
    }
    const stream = toPollable(counting());
    expect(toPollable(stream)).toBe(stream);
    expect(stream.poll()).toBeNull();
    expect([await stream.next(), await stream.next()]).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
    ]);
    await expect(stream.next()).rejects.toThrow('no more');
    expect(await stream.next()).toEqual(ENDED);
  });

  it('returns its source when its reader returns it', async () => {
    let left = 0;
    const source: AsyncIterableIterator<number> = {
      [Symbol.asyncIterator]: () => source,
      next: () => Promise.resolve({ done: false, value: 1 }),
      return() {
        left += 1;
        return Promise.resolve(ENDED);
      },
    };
    await toPollable(source).return();
    expect(left).toBe(1);
  });
});

describe('a stream that can be revoked', () => {
  function aFeed() {
    const fed = handFed<number>();
    const ends: ((reason: Error) => void)[] = [];
    let left = 0;
    const stream = revocable(fed.stream, (revoke) => {
      ends.push(revoke);
      return () => void (left += 1);
    });
    const revoke = (): void => ends[0]?.(new Error('not for you'));
    return { ...fed, stream, revoke, finished: () => left };
  }

  it('yields values, and reports its end once', async () => {
    const { stream, give, end, finished } = aFeed();
    give(1, 2);
    expect([await stream.next(), await stream.next()]).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
    ]);
    end();
    expect([await stream.next(), await stream.next(), await stream.return()]).toEqual([ENDED, ENDED, ENDED]);
    expect(finished()).toBe(1);
  });

  it('throws the reason at a waiting reader, before queued values, and returns its source', async () => {
    const { stream, give, revoke, left, finished } = aFeed();
    const waiting = stream.next();
    revoke();
    await expect(waiting).rejects.toThrow('not for you');
    give(1);
    expect([await stream.next(), left(), finished()]).toEqual([ENDED, true, 1]);

    const read = aFeed();
    read.give(1);
    read.revoke();
    expect(() => read.stream.poll()).toThrow('not for you');
    expect([read.stream.poll(), read.left(), read.finished()]).toEqual([ENDED, true, 1]);
  });

  it('is not revoked after its reader returned it', async () => {
    const { stream, revoke, finished } = aFeed();
    const waiting = stream.next();
    await stream.return();
    revoke();
    expect([await waiting, await stream.next(), finished()]).toEqual([ENDED, ENDED, 1]);
  });
});
