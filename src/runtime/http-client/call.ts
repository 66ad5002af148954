import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import { ReaderStalled, type UpstreamAnswer } from '../../domain/http.ts';
import { ConnectionEnded, failureOf } from './faults.ts';
import type { Watch, Watched } from './deadline-watch.ts';
import type { Place } from '../../domain/open-list.ts';

/** Body bytes buffered before the reader starts; then the upstream is paused. */
const EARLY_BYTES = 64 * 1024;

/** The queue or connection of a call. */
export interface Carrier {
  /** Whether the call still waits for a connection. */
  readonly queued: boolean;
  pause(): void;
  resume(): void;
  /** Leaves the queue, or closes the connection, without a report to the call. */
  abort(): void;
}

/** The promise of a call's answer. */
export interface Settle {
  resolve(answer: UpstreamAnswer): void;
  reject(error: unknown): void;
}

/** Limits of all calls of a client. */
export interface CallTerms {
  readonly watch: Watch;
  /** Longest time between two reads of the body, in ms. */
  readonly silenceMs: number;
  /** Longest pause of the reader, in ms. */
  readonly stallMs: number;
}

/**
 * One call: receives data from its carrier, and is the byte stream of the answer's body. Settles exactly once, and has a deadline while
 * it holds or waits for a connection.
 */
export class Call implements ByteStream, Watched {
  deadlineMs: number;
  place: Place<Watched> | null = null;
  readonly #signal: AbortSignal;
  readonly #watch: Watch;
  readonly #terms: CallTerms;
  readonly #settle: Settle;
  readonly #onAbort = (): void => this.#aborted();
  #carrier: Carrier | null = null;
  #headCame = false;
  /** The sink gets nothing more. */
  #over = false;
  #sink: ByteSink | null = null;
  /** Chunks that came before their reader, or while it is paused. */
  #early: Uint8Array[] | null = null;
  #earlyBytes = 0;
  /** How the body ended, until the reader has it. */
  #ended: { readonly error: Error | null } | null = null;
  /** The reader requested a pause. */
  #paused = false;
  #carrierPaused = false;

  /** `headMs` is the time to the head of the answer. */
  constructor(settle: Settle, signal: AbortSignal, headMs: number, terms: CallTerms) {
    this.#settle = settle;
    this.#signal = signal;
    this.#watch = terms.watch;
    this.#terms = terms;
    this.deadlineMs = this.#watch.now() + headMs;
    this.#watch.add(this);
    this.#signal.addEventListener('abort', this.#onAbort);
  }

  /** Settled, or only its end is still to be read: no carrier is needed any more. */
  get over(): boolean {
    return this.#over || this.#ended !== null;
  }

  carriedBy(carrier: Carrier): void {
    this.#carrier = carrier;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.over || this.#headCame) return;
    this.#headCame = true;
    this.deadlineMs = this.#watch.now() + this.#terms.silenceMs;
    this.#settle.resolve({ status, headers, body: this });
  }

  /** Receives bytes that must not change later. */
  body(chunk: Uint8Array): void {
    if (this.over) return;
    if (!this.#carrierPaused) this.deadlineMs = this.#watch.now() + this.#terms.silenceMs;
    if (this.#sink !== null && !this.#paused) {
      if (this.#give(this.#sink, chunk)) return;
      this.#paused = true;
      this.#pauseCarrier();
      return;
    }
    if (this.#early === null) this.#early = [chunk];
    else this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > EARLY_BYTES) this.#pauseCarrier();
  }

  /** The answer is complete. */
  ended(): void {
    this.#end(null);
  }

  failed(error: Error): void {
    if (this.over) return;
    const failure = error instanceof ReaderStalled ? error : failureOf(error, this.#headCame);
    if (this.#headCame) return this.#end(failure);
    this.#finish();
    this.#settle.reject(failure);
  }

  /** Ends the call at its deadline. */
  expired(): void {
    const stage = this.#headCame ? 'BODY_TIMEOUT' : this.#carrier?.queued === true ? 'QUEUE_TIMEOUT' : 'HEAD_TIMEOUT';
    this.#release();
    if (!this.#carrierPaused) return this.failed(new ConnectionEnded(stage));
    this.#early = null;
    this.#paused = false;
    this.failed(new ReaderStalled());
  }

  pipe(sink: ByteSink): void {
    this.#sink = sink;
    this.#deliver();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#carrierPaused) this.deadlineMs = this.#watch.now() + this.#terms.stallMs;
    this.#deliver();
  }

  cancel(): void {
    if (this.#over) return;
    this.#release();
    this.#finish();
  }

  /** Passes one chunk to the reader. A reader that throws fails its own call, not the process. */
  #give(sink: ByteSink, chunk: Uint8Array): boolean {
    try {
      return sink.chunk(chunk);
    } catch (error) {
      if (this.#over) return true;
      this.#release();
      this.#finish();
      sink.fail(error instanceof Error ? error : new TypeError('A reader failed.', { cause: error }));
      return true;
    }
  }

  #pauseCarrier(): void {
    if (this.#carrierPaused || this.over) return;
    this.#carrierPaused = true;
    this.deadlineMs = this.#watch.now() + this.#terms.stallMs;
    this.#carrier?.pause();
  }

  /** Releases the carrier before the answer was complete. */
  #release(): void {
    const carrier = this.#carrier;
    this.#carrier = null;
    this.#watch.remove(this);
    carrier?.abort();
  }

  #end(error: Error | null): void {
    if (this.over) return;
    this.#ended = { error };
    // The connection carries another call from here on.
    this.#carrier = null;
    this.#watch.remove(this);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#deliver();
  }

  /** Passes buffered chunks to the reader, then the end, then resumes the upstream. */
  #deliver(): void {
    const sink = this.#sink;
    if (sink === null) return;
    while (this.#early !== null) {
      if (this.#over || this.#paused) return;
      const chunk = this.#early.shift();
      if (this.#early.length === 0) this.#early = null;
      if (chunk && !this.#give(sink, chunk)) {
        this.#paused = true;
        this.#pauseCarrier();
      }
    }
    if (this.#over) return;
    if (this.#ended !== null) {
      const { error } = this.#ended;
      this.#finish();
      if (error === null) sink.done();
      else sink.fail(error);
      return;
    }
    if (this.#paused) return;
    this.#earlyBytes = 0;
    if (!this.#carrierPaused) return;
    this.#carrierPaused = false;
    this.deadlineMs = this.#watch.now() + this.#terms.silenceMs;
    this.#carrier?.resume();
  }

  #aborted(): void {
    if (this.over) return;
    const reason: unknown = this.#signal.reason;
    this.#release();
    if (this.#headCame) {
      this.#early = null;
      this.#paused = false;
      this.#end(reason instanceof Error ? reason : new CallAborted());
    } else {
      this.#finish();
      this.#settle.reject(reason);
    }
  }

  #finish(): void {
    this.#over = true;
    this.#early = null;
    this.#carrier = null;
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
