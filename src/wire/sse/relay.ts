import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import type { Outcome } from '../../domain/chat/chat.ts';
import type { InspectorOptions, StreamInspector } from '../dialect.ts';
import { createEventBuffer, endOfEvent, type EventBuffer } from './events.ts';

/** Bytes held for a caller who has not begun to read; then the upstream is paused. */
const WAITING_LIMIT = 64 * 1024;

/**
 * A streamed answer on its way from the upstream to one reader. Whole events only go on, untouched unless the inspector
 * of their dialect gives others in their place. Nothing reaches the reader before `opened` has resolved: a failure up to
 * then rejects it instead.
 */
export class EventRelay implements ByteSink, ByteStream {
  /** Resolves when the first chunk, or an orderly empty end, has come. */
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
  #over = false;

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
    if (this.#over || this.#ended) return true;
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
    if (this.#over || this.#ended) return;
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
    if (this.#over) return;
    this.#over = true;
    this.#waiting = [];
    this.#source.cancel();
  }

  /** Hands complete events on; false asks the upstream to pause. */
  #forward(run: Buffer): boolean {
    const pieces: Uint8Array[] = [];
    let untouchedFrom = 0;
    for (let start = 0; start < run.length;) {
      const end = endOfEvent(run, start);
      const event = run.subarray(start, end);
      const instead = this.#inspector.inspect(event);
      if (instead instanceof Error) {
        if (start > untouchedFrom) pieces.push(run.subarray(untouchedFrom, start));
        if (pieces.length > 0) this.#emit(Buffer.concat(pieces));
        this.#end(instead);
        this.#source.cancel();
        return true;
      }
      if (!this.#isOpen && this.#inspector.begun) this.#opens();
      if (instead !== event) {
        if (start > untouchedFrom) pieces.push(run.subarray(untouchedFrom, start));
        if (instead !== null) pieces.push(instead);
        untouchedFrom = end;
      }
      start = end;
    }
    if (untouchedFrom < run.length) pieces.push(untouchedFrom === 0 ? run : run.subarray(untouchedFrom));
    if (pieces.length === 0) return true;
    return this.#emit(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));
  }

  #opens(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#open();
  }

  #end(error: Error | null): void {
    if (this.#over || this.#ended) return;
    this.#ended = { error };
    if (!this.#isOpen && error !== null) {
      this.#over = true;
      this.#refuse(error);
      return;
    }
    this.#opens();
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
      if (this.#over || this.#paused) return;
      const bytes = this.#waiting.shift();
      if (bytes && !sink.chunk(bytes)) this.#paused = true;
    }
    this.#waitingBytes = 0;
    if (this.#over) return;
    if (this.#ended) {
      this.#over = true;
      if (this.#ended.error === null) sink.done();
      else sink.fail(this.#ended.error);
      return;
    }
    if (!this.#paused) this.#source.resume();
  }
}
