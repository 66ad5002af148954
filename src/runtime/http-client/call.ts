import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import { ReaderStalled, type UpstreamAnswer } from '../../domain/http.ts';
import { ConnectionEnded, failureOf } from './faults.ts';
import type { DeadlineWatch, HasDeadline } from './deadline-watch.ts';
import type { Place } from '../../domain/open-list.ts';

/** Bytes of the body, buffered before the reader starts, above which the upstream is paused. */
const BUFFER_LIMIT = 64 * 1024;

/** Controls the queue entry or the connection of a call. */
export interface TransportHandle {
  /** Whether the call still waits for a connection. */
  readonly queued: boolean;
  pause(): void;
  resume(): void;
  /** Leaves the queue, or closes the connection, without a report to the call. */
  abort(): void;
}

/** Resolves or rejects the promise of a call's answer. */
export interface AnswerResolvers {
  resolve(answer: UpstreamAnswer): void;
  reject(error: unknown): void;
}

/** Limits of all calls of a client. */
export interface CallLimits {
  readonly watch: DeadlineWatch;
  /** Maximum time between two reads of the body, in ms. */
  readonly silenceMs: number;
  /** Maximum pause of the reader, in ms. */
  readonly stallMs: number;
}

/**
 * One call. It receives data from its connection, and is the byte stream of the answer's body. It settles exactly once,
 * and has a deadline while it holds or waits for a connection.
 */
export class Call implements ByteStream, HasDeadline {
  deadlineMs: number;
  place: Place<HasDeadline> | null = null;
  readonly #signal: AbortSignal;
  readonly #watch: DeadlineWatch;
  readonly #limits: CallLimits;
  readonly #settle: AnswerResolvers;
  readonly #onAbort = (): void => this.#aborted();
  #handle: TransportHandle | null = null;
  #headReceived = false;
  /** Whether the sink receives no further events. */
  #finished = false;
  #sink: ByteSink | null = null;
  /** Chunks that arrived before the reader started, or while the reader is paused; null for none. */
  #buffered: Uint8Array[] | null = null;
  #bufferedBytes = 0;
  /** The end of the body, until the reader receives it; null before the end. */
  #ended: { readonly error: Error | null } | null = null;
  /** Whether the reader has requested a pause. */
  #paused = false;
  #isUpstreamPaused = false;

  /** `headMs`: timeout of the head of the answer, in ms. */
  constructor(settle: AnswerResolvers, signal: AbortSignal, headMs: number, limits: CallLimits) {
    this.#settle = settle;
    this.#signal = signal;
    this.#watch = limits.watch;
    this.#limits = limits;
    this.deadlineMs = this.#watch.now() + headMs;
    this.#watch.add(this);
    this.#signal.addEventListener('abort', this.#onAbort);
  }

  /** Whether the call needs no connection any more: it is finished, or the rest of its answer is buffered. */
  get isOver(): boolean {
    return this.#finished || this.#ended !== null;
  }

  setHandle(handle: TransportHandle): void {
    this.#handle = handle;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.isOver || this.#headReceived) return;
    this.#headReceived = true;
    this.deadlineMs = this.#watch.now() + this.#limits.silenceMs;
    this.#settle.resolve({ status, headers, body: this });
  }

  /** Receives bytes that must not change later. */
  body(chunk: Uint8Array): void {
    if (this.isOver) return;
    if (!this.#isUpstreamPaused) this.deadlineMs = this.#watch.now() + this.#limits.silenceMs;
    if (this.#sink !== null && !this.#paused) {
      if (this.#passChunk(this.#sink, chunk)) return;
      this.#paused = true;
      this.#pauseUpstream();
      return;
    }
    if (this.#buffered === null) this.#buffered = [chunk];
    else this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes > BUFFER_LIMIT) this.#pauseUpstream();
  }

  /** The answer is complete. */
  ended(): void {
    this.#end(null);
  }

  failed(error: Error): void {
    if (this.isOver) return;
    const failure = error instanceof ReaderStalled ? error : failureOf(error, this.#headReceived);
    if (this.#headReceived) return this.#end(failure);
    this.#finish();
    this.#settle.reject(failure);
  }

  /** Ends the call at its deadline. */
  expired(): void {
    const code = this.#timeoutCode();
    this.#release();
    if (!this.#isUpstreamPaused) return this.failed(new ConnectionEnded(code));
    // The upstream is paused because the reader does not read: the reader is late, not the upstream.
    this.#buffered = null;
    this.#paused = false;
    this.failed(new ReaderStalled());
  }

  #timeoutCode(): 'QUEUE_TIMEOUT' | 'HEAD_TIMEOUT' | 'BODY_TIMEOUT' {
    if (this.#headReceived) return 'BODY_TIMEOUT';
    return this.#handle?.queued === true ? 'QUEUE_TIMEOUT' : 'HEAD_TIMEOUT';
  }

  pipe(sink: ByteSink): void {
    this.#sink = sink;
    this.#deliver();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#isUpstreamPaused) this.deadlineMs = this.#watch.now() + this.#limits.stallMs;
    this.#deliver();
  }

  cancel(): void {
    if (this.#finished) return;
    this.#release();
    this.#finish();
  }

  /**
   * Passes one chunk to the reader. Returns false when the reader requests a pause. A reader that throws fails its own
   * call, not the process.
   */
  #passChunk(sink: ByteSink, chunk: Uint8Array): boolean {
    try {
      return sink.chunk(chunk);
    } catch (error) {
      if (this.#finished) return true;
      this.#release();
      this.#finish();
      sink.fail(error instanceof Error ? error : new TypeError('The reader of an answer failed.', { cause: error }));
      return true;
    }
  }

  #pauseUpstream(): void {
    if (this.#isUpstreamPaused || this.isOver) return;
    this.#isUpstreamPaused = true;
    this.deadlineMs = this.#watch.now() + this.#limits.stallMs;
    this.#handle?.pause();
  }

  /** Leaves the queue or closes the connection before the answer is complete. */
  #release(): void {
    const handle = this.#handle;
    this.#handle = null;
    this.#watch.remove(this);
    handle?.abort();
  }

  #end(error: Error | null): void {
    if (this.isOver) return;
    this.#ended = { error };
    // From here on the connection may serve another call.
    this.#handle = null;
    this.#watch.remove(this);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#deliver();
  }

  /** Passes buffered chunks to the reader. Then passes the end, or resumes a paused upstream. */
  #deliver(): void {
    const sink = this.#sink;
    if (sink === null) return;
    while (this.#buffered !== null) {
      if (this.#finished || this.#paused) return;
      const chunk = this.#buffered.shift();
      if (this.#buffered.length === 0) this.#buffered = null;
      if (chunk && !this.#passChunk(sink, chunk)) {
        this.#paused = true;
        this.#pauseUpstream();
      }
    }
    if (this.#finished) return;
    if (this.#ended !== null) {
      const { error } = this.#ended;
      this.#finish();
      if (error === null) sink.done();
      else sink.fail(error);
      return;
    }
    if (this.#paused) return;
    this.#bufferedBytes = 0;
    if (!this.#isUpstreamPaused) return;
    this.#isUpstreamPaused = false;
    this.deadlineMs = this.#watch.now() + this.#limits.silenceMs;
    this.#handle?.resume();
  }

  #aborted(): void {
    if (this.isOver) return;
    const reason: unknown = this.#signal.reason;
    this.#release();
    if (this.#headReceived) {
      this.#buffered = null;
      this.#paused = false;
      this.#end(reason instanceof Error ? reason : new CallAborted());
    } else {
      this.#finish();
      this.#settle.reject(reason);
    }
  }

  #finish(): void {
    this.#finished = true;
    this.#buffered = null;
    this.#handle = null;
    this.#watch.remove(this);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** The signal of a call fired with a reason that is not an error. */
class CallAborted extends Error {
  constructor() {
    super('The call was aborted.');
    this.name = 'CallAborted';
  }
}
