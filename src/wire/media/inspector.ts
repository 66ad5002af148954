import type { ChatDelta, Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Measured } from '../../domain/inference/measured.ts';
import { errorOf } from '../chat-completions/answer.ts';
import type { InspectorOptions, StreamInspector } from '../dialect.ts';
import { type Fields, isObject, parseJson, text } from '../json/fields.ts';
import { dataOf, nameOf } from '../sse/events.ts';
import { added, imageUsageOf, transcriptUsageOf } from './usage.ts';
import { picturesOf, soundOf } from './measured.ts';

const DONE = Buffer.from('[DONE]');
/** Pictures on their way are megabytes of which only that they come is of interest. */
const PARTIAL = 'partial_image';
/** Where the type of an event stands whose name is not told, if anywhere cheap to look. */
const BEGINNING = 200;

/** Follows a stream of pictures or of what is said; every event goes on as it came. */
export class MediaInspector implements StreamInspector {
  readonly #options: InspectorOptions;
  #begun = false;
  #complete = false;
  #pictures = 0;
  #usage: Usage | null = null;
  #measured: Measured | undefined;
  #failure: Outcome['failure'] = null;
  #text = '';

  constructor(options: InspectorOptions) {
    this.#options = options;
  }

  get begun(): boolean {
    return this.#begun;
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
      this.#begun = true;
      this.#complete = true;
      return event;
    }
    if (isPartial(event, data)) {
      this.#begun = true;
      return event;
    }
    const value = parseJson(data);
    if (!isObject(value)) return this.#options.garbled('an event of its stream is no JSON object');
    const error = errorOf(value['type'] === 'error' && value['error'] === undefined ? { error: value } : value);
    if (error !== null) {
      this.#failure = { message: error.message, code: error.code ?? error.type ?? 'error' };
      return this.#options.refused(error);
    }
    this.#begun = true;
    this.#read(value);
    return event;
  }

  /** Neither is a conversation. */
  deltas(): readonly ChatDelta[] {
    return [];
  }

  #read(event: Fields): void {
    const type = text(event['type']) ?? '';
    if (type.endsWith('.completed')) {
      this.#complete = true;
      this.#pictures += 1;
      this.#usage = added(this.#usage, imageUsageOf(event['usage']));
      this.#measured = picturesOf(this.#pictures, event, this.#options.body ?? {});
    }
    if (type === 'transcript.text.delta') this.#keep(text(event['delta']) ?? '');
    if (type === 'transcript.text.done') {
      this.#complete = true;
      this.#usage = transcriptUsageOf(event['usage']);
      this.#measured = soundOf(event);
      if (this.#text === '') this.#keep(text(event['text']) ?? '');
    }
  }

  #keep(piece: string): void {
    const room = this.#options.textLimit - this.#text.length;
    if (room > 0) this.#text += piece.slice(0, room);
  }
}

const isPartial = (event: Buffer, data: Buffer): boolean =>
  nameOf(event)?.endsWith(PARTIAL) ?? data.subarray(0, BEGINNING).includes(PARTIAL);
