type Step<Item> = IteratorResult<Item>;

/** Consumes an item synchronously. Returns false when it cannot accept a further item now. Must not throw. */
export type Take<Item> = (item: Item) => boolean;

/**
 * An async iterator that can also be polled. An event may have a thousand subscribers, and each of them has several
 * layers of streams: polling avoids a promise for every layer. A stream has one consumer, which reads either with
 * `next`, or with `poll` and `whenReady`.
 */
export interface PollableStream<Item> extends AsyncIterableIterator<Item> {
  /** The next item, or the end; null while there is none. Throws what `next` would reject with. */
  poll(): Step<Item> | null;
  /**
   * Calls `ready` once, asynchronously, when there may be something to poll. `ready` must not throw. A shared stream
   * may pass items to `take` instead, in order, until `take` returns false.
   */
  whenReady(ready: () => void, take?: Take<Item>): void;
  /** Another reader at the same position; null where the stream cannot be shared. */
  fork(): PollableStream<Item> | null;
  /** Whether all received items were delivered; false when the stream does not know. */
  isDrained(): boolean;
  return(): Promise<Step<Item>>;
}

type Pollable<Item> = Pick<PollableStream<Item>, 'poll' | 'whenReady'>;

export const ENDED: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** `next` of a stream that can be polled. */
export async function nextOf<Item>(stream: Pollable<Item>): Promise<Step<Item>> {
  for (;;) {
    const step = stream.poll();
    if (step !== null) return step;
    await new Promise<void>((resolve) => {
      stream.whenReady(resolve);
    });
  }
}

/** Result of a promise, for callbacks instead of `await`. */
class Outcome<Item> {
  /** Returns the value of the promise, or throws its rejection. Null while the promise is pending. */
  #getValue: (() => Item) | null = null;
  #ready: (() => void) | null = null;

  constructor(promise: Promise<Item>) {
    const settle = (getValue: () => Item): void => {
      this.#getValue = getValue;
      this.#ready?.();
    };
    promise.then(
      (item) => settle(() => item),
      (error: unknown) =>
        settle(() => {
          throw error;
        }),
    );
  }

  get settled(): boolean {
    return this.#getValue !== null;
  }

  whenReady(ready: () => void): void {
    if (this.settled) queueMicrotask(ready);
    else this.#ready = ready;
  }

  /** Value of a settled promise. Throws its rejection. */
  value(): Item {
    if (this.#getValue === null) throw new TypeError('This promise is not settled.');
    return this.#getValue();
  }
}

/** A stream with one more item before all others. */
export function prepend<Item>(first: Item, rest: PollableStream<Item>): PollableStream<Item> {
  let isFirstRead = false;
  return streamOf({
    fork() {
      const other = rest.fork();
      return isFirstRead || other === null ? other : prepend(first, other);
    },
    isDrained: () => isFirstRead && rest.isDrained(),
    poll() {
      if (isFirstRead) return rest.poll();
      isFirstRead = true;
      return { done: false, value: first };
    },
    whenReady(ready) {
      if (isFirstRead) rest.whenReady(ready);
      else queueMicrotask(ready);
    },
    async leave() {
      isFirstRead = true;
      await rest.return();
    },
  });
}

/** Makes a stream pollable. A pollable stream is returned unchanged. */
export function toPollable<Item>(source: AsyncIterable<Item>): PollableStream<Item> {
  if ('poll' in source && 'whenReady' in source) return source as PollableStream<Item>;
  const iterator = source[Symbol.asyncIterator]();
  let next: Outcome<Step<Item>> | null = null;
  return streamOf({
    fork: () => null,
    isDrained: () => false,
    poll() {
      if (next?.settled !== true) return null;
      const settled = next;
      next = null;
      return settled.value();
    },
    whenReady(ready) {
      next ??= new Outcome(iterator.next());
      next.whenReady(ready);
    },
    leave: async () => void (await iterator.return?.()),
  });
}

/**
 * Maps each item; null skips one. A promise is awaited before the next item is read. When `map` throws, the source is
 * closed and the stream ends. Not a generator: its `return()` would wait for a pending `next()` that may never settle.
 */
export function mapStream<Item, Mapped extends object>(
  source: PollableStream<Item>,
  map: (item: Item) => Mapped | null | Promise<Mapped | null>,
): PollableStream<Mapped> {
  // Created only when `map` returns a promise: most of a thousand streams never need it.
  let pending: Outcome<Mapped | null> | null = null;
  let isOver = false;

  /** The next mapped item; null while there is none. At the end it sets `isOver` and returns null. */
  function nextMapped(): Mapped | null {
    if (pending !== null) {
      if (!pending.settled) return null;
      const value = pending.value();
      pending = null;
      if (value !== null) return value;
    }
    for (;;) {
      const step = source.poll();
      if (step === null) return null;
      if (step.done === true) {
        isOver = true;
        return null;
      }
      const value = map(step.value);
      if (value instanceof Promise) {
        pending = new Outcome(value);
        return null;
      }
      if (value !== null) return value;
    }
  }

  return streamOf({
    fork() {
      const other = source.fork();
      return other === null ? null : mapStream(other, map);
    },
    isDrained: () => pending === null && source.isDrained(),
    poll() {
      if (isOver) return ENDED;
      try {
        const value = nextMapped();
        if (value !== null) return { done: false, value };
        return isOver ? ENDED : null;
      } catch (error) {
        isOver = true;
        // Not awaited: a source that is slow to close must not block its reader.
        source.return().catch(() => {});
        throw error;
      }
    },
    whenReady(ready) {
      if (isOver) queueMicrotask(ready);
      else if (pending !== null) pending.whenReady(ready);
      else source.whenReady(ready);
    },
    async leave() {
      await source.return();
      isOver = true;
    },
  });
}

/**
 * A stream that can be ended from outside, also while it is idle: its reader receives the reason as an error before any
 * pending item. `begin` receives the function that ends it, and returns a function that is called once at the end.
 */
export function revocable<Item>(
  source: PollableStream<Item>,
  begin: (revoke: (reason: Error) => void) => () => void,
): PollableStream<Item> {
  let reason: Error | null = null;
  let isOver = false;
  let waiting: (() => void) | null = null;
  const wake = (): void => {
    const ready = waiting;
    waiting = null;
    ready?.();
  };
  const onEnd = begin((why) => {
    reason ??= why;
    queueMicrotask(wake);
  });
  function finish(): void {
    if (isOver) return;
    isOver = true;
    onEnd();
  }

  return streamOf({
    fork() {
      const other = source.fork();
      return other === null ? null : revocable(other, begin);
    },
    isDrained: () => reason === null && source.isDrained(),
    poll() {
      if (isOver) return ENDED;
      try {
        if (reason !== null) throw reason;
        const step = source.poll();
        if (step?.done === true) finish();
        return step;
      } catch (error) {
        finish();
        // Not awaited: a source that is slow to close must not block its reader.
        source.return().catch(() => {});
        throw error;
      }
    },
    whenReady(ready) {
      waiting = ready;
      if (isOver || reason !== null) queueMicrotask(wake);
      else source.whenReady(wake);
    },
    async leave() {
      finish();
      await source.return();
    },
  });
}

/** Completes a stream from its specific methods. */
function streamOf<Item>({
  leave,
  ...methods
}: Pick<PollableStream<Item>, 'poll' | 'whenReady' | 'fork' | 'isDrained'> & {
  leave(): Promise<void>;
}): PollableStream<Item> {
  const stream: PollableStream<Item> = {
    ...methods,
    [Symbol.asyncIterator]: () => stream,
    next: () => nextOf(stream),
    async return() {
      await leave();
      return ENDED;
    },
  };
  return stream;
}
