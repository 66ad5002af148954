import { GatheredBytes } from './gathered-bytes.ts';

/** Receives a byte stream, in order. Exactly one of `done` and `fail` is called, once, last. */
export interface ByteSink {
  /** Takes one chunk. Returning false asks the source to pause until `resume`. */
  chunk(bytes: Uint8Array): boolean;
  done(): void;
  fail(error: Error): void;
}

/**
 * Bytes on their way from an upstream. Pushed, not pulled, because a promise per chunk is what a relay can
 * least afford; `iterate` gives the pulled form where a consumer wants one. Consumed exactly once.
 */
export interface ByteStream {
  /** Starts the flow. Nothing is delivered before this is called. */
  pipe(sink: ByteSink): void;
  /** Lets a paused source go on. */
  resume(): void;
  /** Gives the rest up and frees the upstream connection at once. Safe to call at any time, repeatedly. */
  cancel(): void;
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

/** Reads a stream to its end. Rejects with what failed it; null when it holds more than `limit` bytes. */
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

/** Pieces as one. */
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
 * The pulled form: holds at most the chunk being read and what the source had already in flight when it
 * was asked to pause. Leaving the loop cancels the stream.
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
