import { GatheredBytes } from './gathered-bytes.ts';

/**
 * Receives a byte stream, in order. The last call is one call of either `done` or `fail`. Neither is called after the
 * stream was cancelled.
 */
export interface ByteSink {
  /** Takes one chunk. Returning false asks the source to pause until `resume`. */
  chunk(bytes: Uint8Array): boolean;
  done(): void;
  fail(error: Error): void;
}

/**
 * A byte stream from an upstream. It is pushed, not pulled, because a promise per chunk is too expensive for a relay;
 * `iterate` is the pulled form. Consumed exactly once.
 */
export interface ByteStream {
  /** Starts the flow. Nothing is delivered before this is called. */
  pipe(sink: ByteSink): void;
  /** Resumes a paused source. */
  resume(): void;
  /**
   * Stops the flow and frees the upstream connection immediately. `failure` is the reason when another party than the
   * reader cancels, e.g. a shutdown. May be called at any time and repeatedly.
   */
  cancel(failure?: Error): void;
}

/** A whole body as a byte stream. */
export const streamOfBytes = (body: Uint8Array): ByteStream => new WholeBytes(body);

class WholeBytes implements ByteStream {
  readonly #body: Uint8Array;
  #cancelled = false;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  pipe(sink: ByteSink): void {
    if (this.#cancelled) return;
    if (this.#body.length > 0) sink.chunk(this.#body);
    // The sink may cancel inside of `chunk`.
    if (!this.#cancelled) sink.done();
  }

  resume(): void {}

  cancel(): void {
    this.#cancelled = true;
  }

  /** The body; null when it has more than `limit` bytes. */
  within(limit: number): Uint8Array | null {
    return this.#body.length > limit ? null : this.#body;
  }
}

/** Reads a stream to its end. Rejects with the stream's error; null when it has more than `limit` bytes. */
export function collect(stream: ByteStream, limit: number): Promise<Uint8Array | null> {
  if (stream instanceof WholeBytes) return Promise.resolve(stream.within(limit));
  return new Promise((resolve, reject) => {
    stream.pipe(new Collector(stream, limit, resolve, reject));
  });
}

class Collector implements ByteSink {
  readonly #stream: ByteStream;
  readonly #limit: number;
  readonly #resolve: (bytes: Uint8Array | null) => void;
  readonly #reject: (error: Error) => void;
  readonly #gathered = new GatheredBytes();

  constructor(
    stream: ByteStream,
    limit: number,
    resolve: (bytes: Uint8Array | null) => void,
    reject: (error: Error) => void,
  ) {
    this.#stream = stream;
    this.#limit = limit;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  chunk(bytes: Uint8Array): boolean {
    this.#gathered.add(bytes);
    if (this.#gathered.size <= this.#limit) return true;
    this.#stream.cancel();
    this.#resolve(null);
    return false;
  }

  done(): void {
    this.#resolve(this.#gathered.take());
  }

  fail(error: Error): void {
    this.#reject(error);
  }
}

/** Concatenates chunks. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/**
 * The pulled form of a stream. Buffers at most the current chunk and the chunks that the source had in flight when it
 * was paused. Leaving the loop cancels the stream.
 */
export function iterate(stream: ByteStream): AsyncIterableIterator<Uint8Array> {
  const waiting: Uint8Array[] = [];
  let ended: { readonly error: Error | null } | null = null;
  let started = false;
  let wake: (() => void) | null = null;
  const notify = (): void => {
    wake?.();
    wake = null;
  };
  const sink: ByteSink = {
    chunk(bytes) {
      waiting.push(bytes);
      notify();
      return false;
    },
    done() {
      ended = { error: null };
      notify();
    },
    fail(error) {
      ended = { error };
      notify();
    },
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (!started) {
        started = true;
        stream.pipe(sink);
      }
      for (;;) {
        const bytes = waiting.shift();
        if (bytes !== undefined) return { done: false, value: bytes };
        if (ended?.error) throw ended.error;
        if (ended) return { done: true, value: undefined };
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        stream.resume();
        await woken;
      }
    },
    async return() {
      ended ??= { error: null };
      waiting.length = 0;
      stream.cancel();
      notify();
      return { done: true, value: undefined };
    },
  };
}
