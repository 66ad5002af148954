import type { ByteSink, ByteStream } from '../../src/domain/bytes.ts';

/** Byte stream with chunks from the test. Records `resume` and `cancel` of its reader. */
export interface FedStream extends ByteStream {
  /** Passes a chunk to the reader. False if the reader requests a pause. */
  feed(chunk: Uint8Array | string): boolean;
  finish(): void;
  break(error: Error): void;
  readonly cancelled: boolean;
  /** Number of calls of `resume`. */
  readonly resumed: number;
}

export function fedStream(): FedStream {
  let sink: ByteSink | null = null;
  let cancelled = false;
  let resumed = 0;
  const reader = (): ByteSink => {
    if (sink === null) throw new Error('this stream has no reader');
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

/** Data that a reader has received so far. */
export interface Gathered {
  text(): string;
  /** `done`, or the failure. Null while the stream is open. */
  end: 'done' | Error | null;
}

/** Collects the data of a stream until its end, without pauses. */
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
