type Step<Item> = IteratorResult<Item>;

/** Takes an item at once; false when it can take no other for now. Must not throw. */
export type Take<Item> = (item: Item) => boolean;

/**
 * A stream that tells when it has something, and then gives it at once. An event may have a thousand followers, and
 * stands behind several floors: read this way it costs none of them a promise. For one consumer, and for one way of
 * reading: by `next`, or by these two.
 */
export interface PromptStream<Item> extends AsyncIterableIterator<Item> {
  /** What comes next, or the end; null while there is nothing. Throws what `next` would reject with. */
  poll(): Step<Item> | null;
  /**
   * Calls back once, later but soon, when there may be something to poll. `ready` must not throw. A stream that many
   * read alike may give what comes to `take` instead, one item after the other, for as long as it can take another.
   */
  whenReady(ready: () => void, take?: Take<Item>): void;
  /** Another reader, who stands where this one stands; null where there can be no other. */
  fork(): PromptStream<Item> | null;
  /** Whether all that came was given, as far as that can be told. */
  atRest(): boolean;
  return(): Promise<Step<Item>>;
}

type Pollable<Item> = Pick<PromptStream<Item>, 'poll' | 'whenReady'>;

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

/** What comes of a promise, for who is called back rather than waits. */
class Outcome<Item> {
  #value: (() => Item) | null = null;
  #ready: (() => void) | null = null;

  constructor(promise: Promise<Item>) {
    const settle = (value: () => Item): void => {
      this.#value = value;
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
    return this.#value !== null;
  }

  whenReady(ready: () => void): void {
    if (this.settled) queueMicrotask(ready);
    else this.#ready = ready;
  }

  /** Of one that is settled. Throws what the promise was rejected with. */
  value(): Item {
    if (this.#value === null) throw new TypeError('This promise is not settled.');
    return this.#value();
  }
}

/** A stream with one more item before all others. */
export function behind<Item>(first: Item, rest: PromptStream<Item>): PromptStream<Item> {
  let read = false;
  return streamOf({
    fork() {
      const other = rest.fork();
      return read || other === null ? other : behind(first, other);
    },
    atRest: () => read && rest.atRest(),
    poll() {
      if (read) return rest.poll();
      read = true;
      return { done: false, value: first };
    },
    whenReady(ready) {
      if (read) rest.whenReady(ready);
      else queueMicrotask(ready);
    },
    async leave() {
      read = true;
      await rest.return();
    },
  });
}

/** Any stream as one that can be polled; one that can is given back as it is. */
export function promptly<Item>(source: AsyncIterable<Item>): PromptStream<Item> {
  if ('poll' in source && 'whenReady' in source) return source as PromptStream<Item>;
  const iterator = source[Symbol.asyncIterator]();
  let next: Outcome<Step<Item>> | null = null;
  return streamOf({
    fork: () => null,
    atRest: () => false,
    poll() {
      if (next?.settled !== true) return null;
      const come = next;
      next = null;
      return come.value();
    },
    whenReady(ready) {
      next ??= new Outcome(iterator.next());
      next.whenReady(ready);
    },
    leave: async () => void (await iterator.return?.()),
  });
}

/**
 * What becomes of each item; null leaves one out. A promise is waited for before the next is looked at. When it throws,
 * the source is left, and the stream is over. Not a generator: one would hold `return()` back behind a `next()` that
 * may never come.
 */
export function eachOf<Item, Shown extends object>(
  source: PromptStream<Item>,
  show: (item: Item) => Shown | null | Promise<Shown | null>,
): PromptStream<Shown> {
  // Made only when something is waited for: most streams never do, and there are a thousand of them.
  let pending: Outcome<Shown | null> | null = null;
  let over = false;

  /** What is shown next; null while there is nothing. */
  function shown(): Shown | null {
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
        over = true;
        return null;
      }
      const value = show(step.value);
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
      return other === null ? null : eachOf(other, show);
    },
    atRest: () => pending === null && source.atRest(),
    poll() {
      if (over) return ENDED;
      try {
        const value = shown();
        if (value !== null) return { done: false, value };
        return over ? ENDED : null;
      } catch (error) {
        over = true;
        // Not awaited: a source that is slow to close must not keep its reader.
        source.return().catch(() => {});
        throw error;
      }
    },
    whenReady(ready) {
      if (over) queueMicrotask(ready);
      else if (pending !== null) pending.whenReady(ready);
      else source.whenReady(ready);
    },
    async leave() {
      await source.return();
      over = true;
    },
  });
}

/**
 * A stream that can be ended from outside, also while nothing comes: its reader is thrown the reason before anything
 * else that was still to be read. `begin` is given what ends it, and gives what is called once it is over.
 */
export function revocable<Item>(
  source: PromptStream<Item>,
  begin: (revoke: (reason: Error) => void) => () => void,
): PromptStream<Item> {
  let reason: Error | null = null;
  let over = false;
  let waiting: (() => void) | null = null;
  const wake = (): void => {
    const ready = waiting;
    waiting = null;
    ready?.();
  };
  const left = begin((why) => {
    reason ??= why;
    queueMicrotask(wake);
  });
  function finish(): void {
    if (over) return;
    over = true;
    left();
  }

  return streamOf({
    fork() {
      const other = source.fork();
      return other === null ? null : revocable(other, begin);
    },
    atRest: () => reason === null && source.atRest(),
    poll() {
      if (over) return ENDED;
      try {
        if (reason !== null) throw reason;
        const step = source.poll();
        if (step?.done === true) finish();
        return step;
      } catch (error) {
        finish();
        // Not awaited: a source that is slow to close must not keep its reader.
        source.return().catch(() => {});
        throw error;
      }
    },
    whenReady(ready) {
      waiting = ready;
      if (over || reason !== null) queueMicrotask(wake);
      else source.whenReady(wake);
    },
    async leave() {
      finish();
      await source.return();
    },
  });
}

/** The whole of a stream from what is particular to it. */
function streamOf<Item>({
  leave,
  ...particular
}: Pick<PromptStream<Item>, 'poll' | 'whenReady' | 'fork' | 'atRest'> & {
  leave(): Promise<void>;
}): PromptStream<Item> {
  const stream: PromptStream<Item> = {
    ...particular,
    [Symbol.asyncIterator]: () => stream,
    next: () => nextOf(stream),
    async return() {
      await leave();
      return ENDED;
    },
  };
  return stream;
}
