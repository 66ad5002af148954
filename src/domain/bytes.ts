import { GatheredBytes } from './gathered-bytes.ts';

/** Receives a byte stream, in order. Exactly one of `done` and `fail` is called, once, last. */
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
   * Stops the flow and frees the upstream connection at once. `failure` is the reason when the reader did not leave by
   * itself, e.g. a shutdown. May be called at any time and repeatedly.
   */
  cancel(failure?: Error): void;
}

/** A whole body as a byte stream. */
export function bytesOf(body: Uint8Array): ByteStream {
  let cancelled = false;
  return {
    pipe(sink) {
      if (cancelled) return;
      if (body.length > 0) sink.chunk(body);
      sink.done();
    },
    resume() {},
    cancel() {
      cancelled = true;
    },
  };
}

/** Reads a stream to its end. Rejects with the stream's error; null when it has more than `limit` bytes. */
export function collect(stream: ByteStream, limit: number): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes();
    stream.pipe({
      chunk(bytes) {
        gathered.add(bytes);
        if (gathered.size <= limit) return true;
        stream.cancel();
        resolve(null);
        return false;
      },
      done: () => resolve(gathered.take()),
      fail: reject,
    });
  });
}

/** Concatenates chunks. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array {
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
