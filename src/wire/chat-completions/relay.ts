import type { ByteSink, ByteStream } from '../../domain/bytes.ts';
import type { Outcome, Usage } from '../../domain/chat/chat.ts';
import { type AnswerError, deltasOfChunk, errorOf, factsOf, isAnswer, isUsageChunk, parseJson } from './answer.ts';
import { createEventBuffer, dataOf, endOfEvent, type EventBuffer, eventOf } from './events.ts';
import { createModelRewriter, type ModelRewriter } from './model-rewriter.ts';

/** What a relay does to a stream on its way, and how it words what goes wrong. */
export interface RelayOptions {
  /** The model name the caller asked for. */
  readonly model: string;
  /** Leave the closing usage chunk out: the gateway asked for it, the caller did not. */
  readonly dropUsage: boolean;
  /** Most characters of the answer's text kept for the outcome; 0 keeps none. */
  readonly textLimit: number;
  /** The upstream reported a failure inside its stream. */
  readonly refused: (error: AnswerError) => Error;
  /** The stream broke a rule of its format; `fault` says which. */
  readonly garbled: (fault: string) => Error;
}

/** Bytes held for a caller who has not begun to read; then the upstream is paused. */
const WAITING_LIMIT = 64 * 1024;

const DONE = Buffer.from('[DONE]');
/** Compact serialisers write a chunk in the middle of an answer so; any other chunk is parsed. */
const UNFINISHED = Buffer.from('"finish_reason":null');
const USAGE = Buffer.from('"usage":');
const NULL = Buffer.from('null');

/**
 * A stream of chat completions or completions on its way from the upstream to one reader. Whole events only go on, untouched
 * unless the model's name must change; what accounting needs is read in passing. Nothing reaches the reader
 * before `opened` has resolved: a failure up to then rejects it instead.
 */
export class EventRelay implements ByteSink, ByteStream {
  /** Resolves when the first chunk, or an orderly empty end, has come. */
  readonly opened: Promise<void>;
  readonly #source: ByteStream;
  readonly #options: RelayOptions;
  readonly #rewriter: ModelRewriter;
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
  #sawDone = false;
  #responseId: string | null = null;
  #responseModel: string | null = null;
  #finishReason: string | null = null;
  #usage: Usage | null = null;
  #failure: Outcome['failure'] = null;
  #text = '';

  constructor(source: ByteStream, options: RelayOptions) {
    this.#source = source;
    this.#options = options;
    this.#rewriter = createModelRewriter(options.model);
    this.opened = new Promise((resolve, reject) => {
      this.#open = resolve;
      this.#refuse = reject;
    });
    source.pipe(this);
  }

  outcome(): Outcome {
    return {
      responseId: this.#responseId,
      responseModel: this.#responseModel,
      finishReason: this.#finishReason,
      usage: this.#usage,
      failure: this.#failure,
      text: this.#options.textLimit === 0 ? null : this.#text,
    };
  }

  chunk(bytes: Uint8Array): boolean {
    if (this.#over || this.#ended) return true;
    try {
      const run = this.#events.add(bytes);
      return run === null ? true : this.#forward(run);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#end(this.#options.garbled(error.message));
      this.#source.cancel();
      return true;
    }
  }

  done(): void {
    if (this.#over || this.#ended) return;
    const rest = this.#events.rest();
    if (rest !== null) this.#forward(rest);
    if (this.#ended) return;
    const complete = this.#sawDone || this.#finishReason !== null;
    const empty = !this.#isOpen && rest === null;
    this.#end(complete || empty ? null : this.#options.garbled('the stream ended before the answer did'));
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
      const instead = this.#inspect(event);
      if (instead instanceof Error) {
        if (start > untouchedFrom) pieces.push(run.subarray(untouchedFrom, start));
        if (pieces.length > 0) this.#emit(Buffer.concat(pieces));
        this.#end(instead);
        this.#source.cancel();
        return true;
      }
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

  /** Reads what accounting needs of an event. Gives what goes on in its place, null for nothing, or why to stop. */
  #inspect(event: Buffer): Buffer | null | Error {
    const data = dataOf(event);
    if (data === null) return event;
    if (data.equals(DONE)) {
      this.#sawDone = true;
      this.#opens();
      return event;
    }
    if (this.#isOpen && this.#options.textLimit === 0 && isMiddle(data)) return this.#rewritten(event, data);
    const chunk = parseJson(data);
    if (!isAnswer(chunk, 'choices')) return this.#options.garbled('an event of its stream is no chunk of an answer');
    const error = errorOf(chunk);
    if (error !== null) {
      this.#failure = { message: error.message, code: error.code ?? error.type ?? 'error' };
      return this.#options.refused(error);
    }
    const facts = factsOf(chunk);
    this.#responseId ??= facts.id;
    this.#responseModel = facts.model || this.#responseModel;
    this.#finishReason = facts.finishReason ?? this.#finishReason;
    this.#usage = facts.usage ?? this.#usage;
    if (this.#options.textLimit > 0) this.#keepText(chunk);
    this.#opens();
    if (this.#options.dropUsage && isUsageChunk(chunk)) return null;
    return this.#rewritten(event, data);
  }

  #rewritten(event: Buffer, data: Buffer): Buffer {
    const renamed = this.#rewriter.rename(data);
    return renamed === data ? event : eventOf(renamed);
  }

  #keepText(chunk: unknown): void {
    for (const delta of deltasOfChunk(chunk)) {
      const piece = delta.kind === 'text' ? delta.text : delta.kind === 'toolCall' ? toolText(delta) : '';
      const room = this.#options.textLimit - this.#text.length;
      if (room > 0) this.#text += piece.slice(0, room);
    }
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

/** Whether a chunk plainly neither finishes an answer nor counts its tokens. */
function isMiddle(data: Buffer): boolean {
  if (!data.includes(UNFINISHED)) return false;
  const usage = data.indexOf(USAGE);
  return usage === -1 || data.indexOf(NULL, usage) === usage + USAGE.length;
}

const toolText = (call: { readonly name: string | null; readonly arguments: string }): string =>
  `${call.name ?? ''}${call.arguments}`;
