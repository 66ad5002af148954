import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import type { Outcome } from '../../domain/chat/chat.ts';
import type { InspectorOptions, StreamInspector } from '../dialect.ts';
import { createEventBuffer, endOfEvent, type EventBuffer } from './events.ts';

/** Buffered bytes at which the upstream is paused. Bytes are buffered before `pipe` and while the sink is paused. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/**
 * Forwards a streamed answer from the upstream to one sink. It sends complete events only, unchanged unless the
 * inspector of the dialect replaces them. A failure before `opened` resolves rejects `opened` and is not passed to the
 * sink.
 */
export class EventRelay implements ByteSink, ByteStream {
  /** Resolves when the answer has begun or has ended without an error. Rejects when it fails before that. */
  readonly opened: Promise<void>;
  readonly #source: ByteStream;
  readonly #inspector: StreamInspector;
  readonly #formatError: InspectorOptions['formatError'];
  readonly #events: EventBuffer = createEventBuffer();
  #resolveOpened: () => void = () => {};
  #rejectOpened: (error: Error) => void = () => {};
  #hasOpened = false;
  #sink: ByteSink | null = null;
  #paused = false;
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;
  /** End of the source. The sink may still have to receive buffered bytes. */
  #ended: { readonly error: Error | null } | null = null;
  /** Whether nothing more is sent: the sink has received the end or has cancelled, or `opened` was rejected. */
  #finished = false;

  constructor(source: ByteStream, inspector: StreamInspector, formatError: InspectorOptions['formatError']) {
    this.#source = source;
    this.#inspector = inspector;
    this.#formatError = formatError;
    this.opened = new Promise((resolve, reject) => {
      this.#resolveOpened = resolve;
      this.#rejectOpened = reject;
    });
    source.pipe(this);
  }

  outcome(): Outcome {
    return this.#inspector.outcome();
  }

  chunk(bytes: Uint8Array): boolean {
    if (this.#finished || this.#ended) return true;
    try {
      const completeEvents = this.#events.add(bytes);
      return completeEvents === null ? true : this.#forward(completeEvents);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#end(this.#formatError(error.message));
      this.#source.cancel();
      return true;
    }
  }

  done(): void {
    if (this.#finished || this.#ended) return;
    const rest = this.#events.rest();
    if (rest !== null) this.#forward(rest);
    if (this.#ended) return;
    const isEmpty = !this.#hasOpened && rest === null;
    const isComplete = this.#inspector.complete || isEmpty;
    this.#end(isComplete ? null : this.#formatError('the stream ended before the answer did'));
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
    this.#buffered = [];
    this.#source.cancel();
  }

  /** Inspects and sends complete events. False asks the upstream to pause. */
  #forward(completeEvents: Buffer): boolean {
    const pieces: Uint8Array[] = [];
    let unchangedFrom = 0;
    let start = 0;
    while (start < completeEvents.length) {
      const end = endOfEvent(completeEvents, start);
      const isOnly = start === 0 && end === completeEvents.length;
      const event = isOnly ? completeEvents : completeEvents.subarray(start, end);
      const replacement = this.#inspector.inspect(event);
      if (replacement instanceof Error) {
        if (start > unchangedFrom) pieces.push(completeEvents.subarray(unchangedFrom, start));
        if (pieces.length > 0) this.#emit(Buffer.concat(pieces));
        this.#end(replacement);
        this.#source.cancel();
        return true;
      }
      if (!this.#hasOpened && this.#inspector.hasBegun) this.#markOpen();
      if (replacement !== event) {
        if (start > unchangedFrom) pieces.push(completeEvents.subarray(unchangedFrom, start));
        if (replacement !== null) pieces.push(replacement);
        unchangedFrom = end;
      }
      start = end;
    }
    if (unchangedFrom === 0) return this.#emit(completeEvents);
    if (unchangedFrom < completeEvents.length) pieces.push(completeEvents.subarray(unchangedFrom));
    if (pieces.length === 0) return true;
    return this.#emit(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));
  }

  #markOpen(): void {
    if (this.#hasOpened) return;
    this.#hasOpened = true;
    this.#resolveOpened();
  }

  #end(error: Error | null): void {
    if (this.#finished || this.#ended) return;
    this.#ended = { error };
    if (!this.#hasOpened && error !== null) {
      this.#finished = true;
      this.#rejectOpened(error);
      return;
    }
    this.#markOpen();
    this.#deliver();
  }

  #emit(bytes: Uint8Array): boolean {
    if (this.#sink !== null && !this.#paused && this.#buffered.length === 0) {
      this.#paused = !this.#sink.chunk(bytes);
      return !this.#paused;
    }
    this.#buffered.push(bytes);
    this.#bufferedBytes += bytes.length;
    return this.#bufferedBytes < MAX_BUFFERED_BYTES;
  }

  #deliver(): void {
    const sink = this.#sink;
    if (sink === null) return;
    while (this.#buffered.length > 0) {
      if (this.#finished || this.#paused) return;
      const bytes = this.#buffered.shift();
      if (bytes && !sink.chunk(bytes)) this.#paused = true;
    }
    this.#bufferedBytes = 0;
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
