type Step<Item> = IteratorResult<Item>;

/**
 * A stream that tells when it has something, and then gives it at once. An event may have a thousand followers, and
 * stands behind several floors: read this way it costs none of them a promise. For one consumer, and for one way of
 * reading: by `next`, or by these two.
 */
export interface PromptStream<Item> extends AsyncIterableIterator<Item> {
  /** What comes next, or the end; null while there is nothing. Throws what `next` would reject with. */
  poll(): Step<Item> | null;
  /** Calls back once, later but soon, when there may be something to poll. `ready` must not throw. */
  whenReady(ready: () => void): void;
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

/** What a callback waits for, and what has come of it. */
class Outcome<Item> {
  #settled: (() => Item) | null = null;
  #ready: (() => void) | null = null;
  waiting = false;

  await(promise: Promise<Item>): void {
    this.waiting = true;
    const settle = (settled: () => Item): void => {
      this.#settled = settled;
      const ready = this.#ready;
      this.#ready = null;
      ready?.();
    };
    promise.then(
      (item) => settle(() => item),
      (error: unknown) =>
        settle(() => {
          throw error;
        }),
    );
  }

  whenReady(ready: () => void): void {
    if (this.#settled !== null) queueMicrotask(ready);
    else this.#ready = ready;
  }

  /** Null while nothing has come. Throws when that is what has come. */
  take(): { readonly item: Item } | null {
    const settled = this.#settled;
    if (settled === null) return null;
    this.#settled = null;
    this.waiting = false;
    return { item: settled() };
  }
}

/** Any stream as one that can be polled; one that can is given back as it is. */
export function promptly<Item>(source: AsyncIterable<Item>): PromptStream<Item> {
  if ('poll' in source && 'whenReady' in source) return source as PromptStream<Item>;
  const iterator = source[Symbol.asyncIterator]();
  const next = new Outcome<Step<Item>>();
  return streamOf({
    poll: () => next.take()?.item ?? null,
    whenReady(ready) {
      if (!next.waiting) next.await(iterator.next());
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
  const pending = new Outcome<Shown | null>();
  let over = false;

  /** What is shown next; null while there is nothing. */
  function shown(): Shown | null {
    const awaited = pending.take();
    if (awaited !== null && awaited.item !== null) return awaited.item;
    if (pending.waiting) return null;
    for (;;) {
      const step = source.poll();
      if (step === null) return null;
      if (step.done === true) {
        over = true;
        return null;
      }
      const value = show(step.value);
      if (value instanceof Promise) {
        pending.await(value);
        return null;
      }
      if (value !== null) return value;
    }
  }

  return streamOf({
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
      else if (pending.waiting) pending.whenReady(ready);
      else source.whenReady(ready);
    },
    async leave() {
      await source.return();
      over = true;
    },
  });
}

/** The whole of a stream from what is particular to it. */
function streamOf<Item>({ poll, whenReady, leave }: Pollable<Item> & { leave(): Promise<void> }): PromptStream<Item> {
  const stream: PromptStream<Item> = {
    [Symbol.asyncIterator]: () => stream,
    poll,
    whenReady,
    next: () => nextOf(stream),
    async return() {
      await leave();
      return ENDED;
    },
  };
  return stream;
}
