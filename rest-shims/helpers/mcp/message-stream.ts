import type { ByteSink, ByteStream } from '../../../src/domain/bytes.ts';

/** Writes events, one after another. */
export interface MessageWriter {
  /** Resolves when the event is written, which waits for a slow client. One event is sent at a time. */
  send(bytes: Uint8Array): Promise<void>;
  /** Aborts when the client disconnects, or when the process ends the stream. */
  readonly signal: AbortSignal;
}

interface PendingEvent {
  readonly bytes: Uint8Array;
  readonly written: () => void;
}

/**
 * Event stream of messages that `work` produces. The work starts when the stream is read. `closed` is called once, at
 * the end of the stream.
 */
export class MessageStream implements ByteStream, MessageWriter {
  readonly #work: (writer: MessageWriter) => Promise<void>;
  readonly #closed: () => void;
  readonly #cancelled = new AbortController();
  #sink: ByteSink | null = null;
  #pending: PendingEvent | null = null;
  #isPaused = false;
  #isClosed = false;

  constructor(work: (writer: MessageWriter) => Promise<void>, closed: () => void = () => {}) {
    this.#work = work;
    this.#closed = closed;
  }

  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  pipe(sink: ByteSink): void {
    if (this.#isClosed) return;
    this.#sink = sink;
    this.#work(this).then(
      () => this.#end((open) => open.done()),
      (error: unknown) =>
        this.#end((open) =>
          open.fail(error instanceof Error ? error : new Error('A message failed.', { cause: error })),
        ),
    );
  }

  resume(): void {
    this.#isPaused = false;
    this.#flush();
  }

  cancel(failure?: Error): void {
    if (!this.#close()) return;
    this.#cancelled.abort(failure);
  }

  send(bytes: Uint8Array): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pending = { bytes, written: resolve };
    this.#flush();
    return promise;
  }

  #flush(): void {
    if (this.#isPaused || this.#sink === null || this.#pending === null) return;
    const { bytes, written } = this.#pending;
    this.#pending = null;
    this.#isPaused = !this.#sink.chunk(bytes);
    written();
  }

  /** Closes the stream, and calls `done` or `fail` of its sink. */
  #end(finish: (sink: ByteSink) => void): void {
    const sink = this.#sink;
    if (this.#close() && sink !== null) finish(sink);
  }

  /** Returns false if the stream is closed already. */
  #close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.#pending?.written();
    this.#pending = null;
    this.#closed();
    return true;
  }
}

/** Resolves when one of the signals is aborted. */
export function anyAborted(signals: readonly AbortSignal[]): Promise<void> {
  const signal = AbortSignal.any([...signals]);
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
