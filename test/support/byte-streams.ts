import type { ByteSink, ByteStream } from '../../src/domain/bytes.ts';

/** A byte stream the test feeds by hand, and what its reader did to it. */
export interface FedStream extends ByteStream {
  /** Gives the reader a chunk; false when it asks to pause. */
  feed(chunk: Uint8Array | string): boolean;
  finish(): void;
  break(error: Error): void;
  readonly cancelled: boolean;
  readonly resumed: number;
}

export function fedStream(): FedStream {
  let sink: ByteSink | null = null;
  let cancelled = false;
  let resumed = 0;
  const reader = (): ByteSink => {
    if (sink === null) throw new Error('nobody reads this stream');
    return sink;
  };
  return {
    pipe(into) {
      sink = into;
    },
    resume() {
      resumed += 1;
    },
    cancel() {
      cancelled = true;
    },
    feed: (chunk) => reader().chunk(typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
    finish: () => reader().done(),
    break: (error) => reader().fail(error),
    get cancelled() {
      return cancelled;
    },
    get resumed() {
      return resumed;
    },
  };
}

/** What a reader has got of a stream so far. */
export interface Gathered {
  text(): string;
  /** `done`, the failure, or null while the stream goes on. */
  end: 'done' | Error | null;
}

/** Reads a stream to its end, never asking for a pause. */
export function gather(stream: ByteStream): Gathered {
  const chunks: Uint8Array[] = [];
  const gathered: Gathered = { text: () => Buffer.concat(chunks).toString('utf8'), end: null };
  stream.pipe({
    chunk(bytes) {
      chunks.push(bytes);
      return true;
    },
    done() {
      gathered.end = 'done';
    },
    fail(error) {
      gathered.end = error;
    },
  });
  return gathered;
}
