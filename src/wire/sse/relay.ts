import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import type { Outcome } from '../../domain/chat/chat.ts';
import type { InspectorOptions, StreamInspector } from '../dialect.ts';
import { createEventBuffer, endOfEvent, type EventBuffer } from './events.ts';

/** Bytes that are buffered for a paused reader. At this limit the upstream is paused. */
const WAITING_LIMIT = 64 * 1024;

/**
 * Forwards a streamed answer from the upstream to one reader. It sends complete events only, unchanged unless the
 * inspector of the dialect replaces them. A failure before `opened` resolves rejects `opened` instead of the stream.
 */
export class EventRelay implements ByteSink, ByteStream {
  /** Resolves when the answer has begun or has ended without an error. Rejects when it fails before that. */
  readonly opened: Promise<void>;
  readonly #source: ByteStream;
  readonly #inspector: StreamInspector;
  readonly #garbled: InspectorOptions['garbled'];
  readonly #events: EventBuffer = createEventBuffer();
  #open: () => void = () => {};
  #refuse: (error: Error) => void = () => {};
  #isOpen = false;
  #sink: ByteSink | null = null;
  #paused = false;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #ended: { readonly error: Error | null } | null = null;
  #finished = false;

  constructor(source: ByteStream, inspector: StreamInspector, garbled: InspectorOptions['garbled']) {
    this.#source = source;
    this.#inspector = inspector;
    this.#garbled = garbled;
    this.opened = new Promise((resolve, reject) => {
      this.#open = resolve;
      this.#refuse = reject;
    });
    source.pipe(this);
  }

  outcome(): Outcome {
    return this.#inspector.outcome();
  }

  chunk(bytes: Uint8Array): boolean {
    if (this.#finished || this.#ended) return true;
    try {
      const run = this.#events.add(bytes);
      return run === null ? true : this.#forward(run);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#end(this.#garbled(error.message));
      this.#source.cancel();
      return true;
    }
  }

  done(): void {
    if (this.#finished || this.#ended) return;
    const rest = this.#events.rest();
    if (rest !== null) this.#forward(rest);
    if (this.#ended) return;
    const empty = !this.#isOpen && rest === null;
    const whole = this.#inspector.complete || empty;
    this.#end(whole ? null : this.#garbled('the stream ended before the answer did'));
  }

  fail(error: Error): void {
    this.#end(error);
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
    if (this.#finished) return;
    this.#finished = true;
    this.#waiting = [];
    this.#source.cancel();
  }

  /** Inspects and sends a run of complete events. False asks the upstream to pause. */
  #forward(run: Buffer): boolean {
    const pieces: Uint8Array[] = [];
    let unchangedFrom = 0;
    for (let start = 0; start < run.length;) {
      const end = endOfEvent(run, start);
      const event = run.subarray(start, end);
      const replacement = this.#inspector.inspect(event);
      if (replacement instanceof Error) {
        if (start > unchangedFrom) pieces.push(run.subarray(unchangedFrom, start));
        if (pieces.length > 0) this.#emit(Buffer.concat(pieces));
        this.#end(replacement);
        this.#source.cancel();
        return true;
      }
      if (!this.#isOpen && this.#inspector.hasBegun) this.#markOpen();
      if (replacement !== event) {
        if (start > unchangedFrom) pieces.push(run.subarray(unchangedFrom, start));
        if (replacement !== null) pieces.push(replacement);
        unchangedFrom = end;
      }
      start = end;
    }
    if (unchangedFrom < run.length) pieces.push(unchangedFrom === 0 ? run : run.subarray(unchangedFrom));
    if (pieces.length === 0) return true;
    return this.#emit(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));
  }

  #markOpen(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#open();
  }

  #end(error: Error | null): void {
    if (this.#finished || this.#ended) return;
    this.#ended = { error };
    if (!this.#isOpen && error !== null) {
      this.#finished = true;
      this.#refuse(error);
      return;
    }
    this.#markOpen();
    this.#deliver();
  }

  #emit(bytes: Uint8Array): boolean {
    if (this.#sink !== null && !this.#paused && this.#waiting.length === 0) {
      this.#paused = !this.#sink.chunk(bytes);
      return !this.#paused;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    return this.#waitingBytes < WAITING_LIMIT;
  }

  #deliver(): void {
    const sink = this.#sink;
    if (sink === null) return;
    while (this.#waiting.length > 0) {
      if (this.#finished || this.#paused) return;
      const bytes = this.#waiting.shift();
      if (bytes && !sink.chunk(bytes)) this.#paused = true;
    }
    this.#waitingBytes = 0;
    if (this.#finished) return;
    if (this.#ended) {
      this.#finished = true;
      if (this.#ended.error === null) sink.done();
      else sink.fail(this.#ended.error);
      return;
    }
    if (!this.#paused) this.#source.resume();
  }
}
