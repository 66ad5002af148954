import { isJsonObject } from '../../domain/json-object.ts';
import type { ChatDelta, Outcome, Usage } from '../../domain/chat/chat.ts';
import type { BilledQuantity } from '../../domain/inference/billed-quantity.ts';
import { errorOf } from '../chat-completions/answer.ts';
import type { InspectorOptions, StreamInspector } from '../dialect.ts';
import { type Fields, parseJson, text } from '../json/fields.ts';
import { dataOf, nameOf } from '../sse/events.ts';
import { addUsage, imageUsageOf, transcriptUsageOf } from './usage.ts';
import { measuredImages, measuredSeconds } from './measured.ts';

const DONE = Buffer.from('[DONE]');
/**
 * End of the name of events with a partial image. These events can be megabytes, so they are forwarded without parsing.
 */
const PARTIAL_IMAGE = 'partial_image';
/** Bytes of the data that are searched for the type of an event without a name. */
const TYPE_SEARCH_BYTES = 200;

/** Inspects a stream of images or of a transcript. Forwards every event unchanged. */
export class MediaInspector implements StreamInspector {
  readonly #options: InspectorOptions;
  #hasBegun = false;
  #complete = false;
  #completedImages = 0;
  #usage: Usage | null = null;
  #measured: BilledQuantity | undefined;
  #failure: Outcome['failure'] = null;
  #text = '';

  constructor(options: InspectorOptions) {
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get complete(): boolean {
    return this.#complete;
  }

  outcome(): Outcome {
    return {
      responseId: null,
      responseModel: null,
      finishReason: null,
      usage: this.#usage,
      ...(this.#measured === undefined ? {} : { measured: this.#measured }),
      failure: this.#failure,
      text: this.#options.textLimit === 0 ? null : this.#text,
    };
  }

  inspect(event: Buffer): Buffer | Error {
    const data = dataOf(event);
    if (data === null) return event;
    if (data.equals(DONE)) {
      this.#hasBegun = true;
      this.#complete = true;
      return event;
    }
    if (isPartialImage(event, data)) {
      this.#hasBegun = true;
      return event;
    }
    const value = parseJson(data);
    if (!isJsonObject(value)) return this.#options.formatError('an event of its stream is not a JSON object');
    // An error event may have the members of the error at its top level.
    const error = errorOf(value['type'] === 'error' && value['error'] === undefined ? { error: value } : value);
    if (error !== null) {
      this.#failure = { message: error.message, code: error.code ?? error.type ?? 'error' };
      return this.#options.upstreamError(error);
    }
    this.#hasBegun = true;
    this.#read(value);
    return event;
  }

  /** Images and transcripts have no typed deltas. */
  deltas(): readonly ChatDelta[] {
    return [];
  }

  #read(event: Fields): void {
    const type = text(event['type']) ?? '';
    if (type.endsWith('.completed')) {
      this.#complete = true;
      this.#completedImages += 1;
      this.#usage = addUsage(this.#usage, imageUsageOf(event['usage']));
      this.#measured = measuredImages(this.#completedImages, event, this.#options.body ?? {});
    }
    if (type === 'transcript.text.delta') this.#keepText(text(event['delta']) ?? '');
    if (type === 'transcript.text.done') {
      this.#complete = true;
      this.#usage = transcriptUsageOf(event['usage']);
      this.#measured = measuredSeconds(event);
      if (this.#text === '') this.#keepText(text(event['text']) ?? '');
    }
  }

  #keepText(piece: string): void {
    const remaining = this.#options.textLimit - this.#text.length;
    if (remaining > 0) this.#text += piece.slice(0, remaining);
  }
}

const isPartialImage = (event: Buffer, data: Buffer): boolean =>
  nameOf(event)?.endsWith(PARTIAL_IMAGE) ?? data.subarray(0, TYPE_SEARCH_BYTES).includes(PARTIAL_IMAGE);
