import { isJsonObject } from '../../domain/json-object.ts';
import type { ChatDelta, Outcome } from '../../domain/chat/chat.ts';
import { isChatDelta } from '../../domain/chat/answer-step.ts';
import { OutcomeCollector } from '../../domain/chat/outcome.ts';
import type { AnswerError, AnswerReader, InspectorOptions, StreamInspector } from '../dialect.ts';
import { type Fields, parseJson } from '../json/fields.ts';
import { dataOf, nameOf, withData } from './events.ts';

/** The parts of a dialect that a StepsInspector needs. */
interface InspectedDialect {
  reader(): AnswerReader;
  errorOf(value: unknown): AnswerError | null;
  /** Event data with the caller's model name. The same buffer when nothing changes. */
  rename(data: Buffer, value: Fields, model: string): Buffer;
  /**
   * Whether an event certainly contains only content. When the outcome keeps no text, such events are not parsed,
   * except at the start of the answer. When this function is absent, every event is parsed.
   */
  isPiece?(data: Buffer): boolean;
}

const DONE = Buffer.from('[DONE]');

/** Inspects a stream by reading its events into steps. Complete after the `finish` step. */
export class StepsInspector implements StreamInspector {
  readonly #options: InspectorOptions;
  readonly #dialect: InspectedDialect;
  readonly #reader: AnswerReader;
  readonly #collector: OutcomeCollector;
  #failure: Outcome['failure'] = null;
  /** Separate reader for `deltas`, because a reader keeps its position in the answer. Null until first use. */
  #deltaReader: AnswerReader | null = null;
  #hasBegun = false;
  pieces = 0;

  constructor(dialect: InspectedDialect, options: InspectorOptions) {
    this.#dialect = dialect;
    this.#options = options;
    this.#reader = dialect.reader();
    this.#collector = new OutcomeCollector(options.textLimit);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get complete(): boolean {
    return this.#collector.finishReason !== null;
  }

  outcome(): Outcome {
    return { ...this.#collector.outcome(), failure: this.#failure };
  }

  inspect(event: Buffer): Buffer | null | Error {
    const data = dataOf(event);
    if (data === null || data.equals(DONE)) return event;
    if (this.#hasBegun && this.#options.textLimit === 0 && this.#dialect.isPiece?.(data) === true) {
      this.pieces += 1;
      return event;
    }
    const value = parseJson(data);
    if (!isJsonObject(value)) return this.#options.formatError('an event of its stream is not a JSON object');
    const error = this.#dialect.errorOf(value);
    if (error !== null) {
      this.#failure = { message: error.message, code: error.code ?? error.type ?? 'error' };
      return this.#options.upstreamError(error);
    }
    for (const step of this.#reader.read(value, nameOf(event))) {
      this.#hasBegun = true;
      this.#collector.add(step);
      if (step.kind === 'text' || step.kind === 'reasoning' || step.kind === 'toolCall') this.pieces += 1;
    }
    const renamed = this.#dialect.rename(data, value, this.#options.model);
    return renamed === data ? event : withData(event, renamed);
  }

  deltas(data: Buffer, event: string | null): readonly ChatDelta[] {
    this.#deltaReader ??= this.#dialect.reader();
    return this.#deltaReader.read(parseJson(data), event).filter(isChatDelta);
  }
}
