import type { ByteSink, ByteStream } from '../domain/bytes.ts';
import type { UpstreamAnswer } from '../domain/http.ts';
import { failureOf } from './http-faults.ts';

/** Body bytes taken before anybody reads them; then the upstream is paused. */
const EARLY_BYTES = 64 * 1024;

/** The connection under a call, as long as the call lasts. */
export interface Carrier {
  pause(): void;
  resume(): void;
  /** Gives the call up, and the connection with it. */
  abort(): void;
}

/** One call: takes what its connection pushes, and is the byte stream of the answer's body. */
export class Call implements ByteStream {
  readonly #signal: AbortSignal;
  readonly #resolve: (answer: UpstreamAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = (): void => this.#aborted();
  #carrier: Carrier | null = null;
  #headCame = false;
  /** Nothing more is told to the sink. */
  #over = false;
  #sink: ByteSink | null = null;
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  /** How the body ended, while nobody reads or the reader is paused. */
  #ended: { readonly error: Error | null } | null = null;
  #paused = false;

  constructor(signal: AbortSignal, resolve: (answer: UpstreamAnswer) => void, reject: (error: unknown) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Nobody waits for it any more. */
  get over(): boolean {
    return this.#over;
  }

  carriedBy(carrier: Carrier): void {
    this.#carrier = carrier;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.#over) return;
    this.#headCame = true;
    this.#resolve({ status, headers, body: this });
  }

  /** Takes bytes that stay as they are. */
  body(chunk: Uint8Array): void {
    if (this.#over) return;
    if (this.#sink !== null && !this.#paused) {
      if (this.#sink.chunk(chunk)) return;
      this.#paused = true;
      this.#carrier?.pause();
      return;
    }
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > EARLY_BYTES) this.#carrier?.pause();
  }

  ended(): void {
    this.#end(null);
  }

  failed(error: Error): void {
    if (this.#over) return;
    const failure = failureOf(error, this.#headCame);
    if (this.#headCame) return this.#end(failure);
    this.#finish();
    this.#reject(failure);
  }

  pipe(sink: ByteSink): void {
    this.#sink = sink;
    this.#deliver();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#deliver();
  }

  cancel(): void {
    if (this.#over) return;
    const carrier = this.#carrier;
    this.#finish();
    carrier?.abort();
  }

  #end(error: Error | null): void {
    if (this.#over || this.#ended !== null) return;
    this.#ended = { error };
    // The connection is another call's from here on.
    this.#carrier = null;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#deliver();
  }

  /** Hands on what waited for the reader, then the end, then lets the upstream go on. */
  #deliver(): void {
    const sink = this.#sink;
    if (sink === null) return;
    while (this.#early.length > 0) {
      if (this.#over || this.#paused) return;
      const chunk = this.#early.shift();
      if (chunk && !sink.chunk(chunk)) {
        this.#paused = true;
        this.#carrier?.pause();
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
    this.#carrier?.resume();
  }

  #aborted(): void {
    if (this.#over || this.#ended !== null) return;
    const carrier = this.#carrier;
    const reason: unknown = this.#signal.reason;
    if (this.#headCame) {
      this.#early = [];
      this.#paused = false;
      this.#end(reason instanceof Error ? reason : new GivenUp());
    } else {
      this.#finish();
      this.#reject(reason);
    }
    carrier?.abort();
  }

  #finish(): void {
    this.#over = true;
    this.#early = [];
    this.#carrier = null;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** We, not the upstream, ended a call. */
class GivenUp extends Error {
  constructor() {
    super('The call was given up.');
    this.name = 'GivenUp';
  }
}
