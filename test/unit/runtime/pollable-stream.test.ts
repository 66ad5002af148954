import { describe, expect, it } from 'vitest';
import {
  ENDED,
  mapStream,
  nextOf,
  toPollable,
  type PollableStream,
  revocable,
} from '../../../src/domain/pollable-stream.ts';

/** A stream whose values the test pushes. `isOver` says whether the test has ended it, or its reader has closed it. */
function manualSource<Item>() {
  const items: Item[] = [];
  let ready: (() => void) | null = null;
  let hasEnded = false;
  const stream: PollableStream<Item> = {
    [Symbol.asyncIterator]: () => stream,
    poll() {
      const value = items.shift();
      if (value !== undefined) return { done: false, value };
      return hasEnded ? ENDED : null;
    },
    whenReady(callback) {
      ready = callback;
    },
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
    const callback = ready;
    ready = null;
    if (callback) queueMicrotask(callback);
  }
  function end(): void {
    hasEnded = true;
    wake();
  }
  function push(...added: readonly Item[]): void {
    items.push(...added);
    wake();
  }
  return { stream, push, end, isOver: () => hasEnded };
}

const tagged = (value: number): { readonly value: number } => ({ value });

describe('a stream that can be polled', () => {
  it('is empty until a value is pushed, which wakes a waiting reader', async () => {
    const { stream, push } = manualSource<number>();
    const output = mapStream(stream, tagged);
    expect(output.poll()).toBeNull();
    const readyPromise = new Promise<void>((resolve) => output.whenReady(resolve));
    push(1, 2);
    await readyPromise;
    expect([output.poll(), output.poll(), output.poll()]).toEqual([
      { done: false, value: { value: 1 } },
      { done: false, value: { value: 2 } },
      null,
    ]);
  });

  it('excludes filtered values, also with asynchronous filters, and keeps the order', async () => {
    const { stream, push, end } = manualSource<number>();
    push(...Array.from({ length: 12 }, (_, index) => index + 1));
    end();
    const output = mapStream(stream, (value) => {
      const result = value % 3 === 0 ? null : tagged(value);
      return value % 2 === 0 ? Promise.resolve(result) : result;
    });
    const values: number[] = [];
    for await (const { value } of output) values.push(value);
    expect(values).toEqual([1, 2, 4, 5, 7, 8, 10, 11]);
    expect(output.poll()).toEqual(ENDED);
  });

  it.each([
    ['later', () => Promise.reject(new Error('not for you'))],
    [
      'immediately',
      () => {
        throw new Error('not for you');
      },
    ],
  ])('ends when its filter fails %s, and closes its source', async (_when, fail) => {
    const { stream, push, isOver } = manualSource<number>();
    const output = mapStream(stream, fail);
    const waiting = output.next();
    push(1, 2);
    await expect(waiting).rejects.toThrow('not for you');
    expect([isOver(), await output.next()]).toEqual([true, ENDED]);
  });

  it('ends immediately when its reader closes it, also during a read', async () => {
    const { stream, isOver } = manualSource<number>();
    const output = mapStream(mapStream(stream, tagged), tagged as never);
    const waiting = output.next();
    expect(await output.return()).toEqual(ENDED);
    expect([isOver(), await waiting, output.poll()]).toEqual([true, ENDED, ENDED]);
  });

  it('can be made from any async iterator, and forwards its failure and end', async () => {
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

  it('closes its source when its reader closes it', async () => {
    let returns = 0;
    const source: AsyncIterableIterator<number> = {
      [Symbol.asyncIterator]: () => source,
      next: () => Promise.resolve({ done: false, value: 1 }),
      return() {
        returns += 1;
        return Promise.resolve(ENDED);
      },
    };
    await toPollable(source).return();
    expect(returns).toBe(1);
  });
});

describe('a stream that can be revoked', () => {
  function aRevocableStream() {
    const source = manualSource<number>();
    const revokes: ((reason: Error) => void)[] = [];
    let endReports = 0;
    const stream = revocable(source.stream, (revoke) => {
      revokes.push(revoke);
      return () => {
        endReports += 1;
      };
    });
    const revoke = (): void => revokes[0]?.(new Error('not for you'));
    return { ...source, stream, revoke, endReports: () => endReports };
  }

  it('yields values, and reports its end once', async () => {
    const { stream, push, end, endReports } = aRevocableStream();
    push(1, 2);
    expect([await stream.next(), await stream.next()]).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
    ]);
    end();
    expect([await stream.next(), await stream.next(), await stream.return()]).toEqual([ENDED, ENDED, ENDED]);
    expect(endReports()).toBe(1);
  });

  it('throws the reason to a waiting read or before queued values, and closes its source', async () => {
    const { stream, push, revoke, isOver, endReports } = aRevocableStream();
    const waiting = stream.next();
    revoke();
    await expect(waiting).rejects.toThrow('not for you');
    push(1);
    expect([await stream.next(), isOver(), endReports()]).toEqual([ENDED, true, 1]);

    const polled = aRevocableStream();
    polled.push(1);
    polled.revoke();
    expect(() => polled.stream.poll()).toThrow('not for you');
    expect([polled.stream.poll(), polled.isOver(), polled.endReports()]).toEqual([ENDED, true, 1]);
  });

  it('ignores a revocation after its reader closed it', async () => {
    const { stream, revoke, endReports } = aRevocableStream();
    const waiting = stream.next();
    await stream.return();
    revoke();
    expect([await waiting, await stream.next(), endReports()]).toEqual([ENDED, ENDED, 1]);
  });
});
