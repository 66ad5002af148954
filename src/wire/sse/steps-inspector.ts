import type { ChatDelta, Outcome } from '../../domain/chat/chat.ts';
import { isChatDelta } from '../../domain/chat/answer-step.ts';
import { OutcomeOfSteps } from '../../domain/chat/outcome.ts';
import type { AnswerError, AnswerReader, InspectorOptions, StreamInspector } from '../dialect.ts';
import { type Fields, isObject, parseJson } from '../json/fields.ts';
import { dataOf, nameOf, withData } from './events.ts';

/** What following a stream by its steps needs of the dialect. */
interface FollowedDialect {
  reader(): AnswerReader;
  errorOf(value: unknown): AnswerError | null;
  /** The data of an event with the model named as the caller named it; the same buffer where it names none. */
  rename(data: Buffer, value: Fields, model: string): Buffer;
  /** Whether an event plainly only says a piece of the answer's content; such events are not parsed in vain. */
  isPiece?(data: Buffer): boolean;
}

const DONE = Buffer.from('[DONE]');

/** Follows a stream of a dialect by reading every event of it. Complete once the answer has finished. */
export class StepsInspector implements StreamInspector {
  readonly #options: InspectorOptions;
  readonly #dialect: FollowedDialect;
  readonly #reader: AnswerReader;
  readonly #seen: OutcomeOfSteps;
  #failure: Outcome['failure'] = null;
  /** Reads for whoever wants typed steps; apart, because a reader remembers where in the answer it is. */
  #typed: AnswerReader | null = null;
  #begun = false;

  constructor(dialect: FollowedDialect, options: InspectorOptions) {
    this.#dialect = dialect;
    this.#options = options;
    this.#reader = dialect.reader();
    this.#seen = new OutcomeOfSteps(options.textLimit);
  }

  get begun(): boolean {
    return this.#begun;
  }

  get complete(): boolean {
    return this.#seen.finishReason !== null;
  }

  outcome(): Outcome {
    return { ...this.#seen.outcome(), failure: this.#failure };
  }

  inspect(event: Buffer): Buffer | null | Error {
    const data = dataOf(event);
    if (data === null || data.equals(DONE)) return event;
    if (this.#begun && this.#options.textLimit === 0 && this.#dialect.isPiece?.(data) === true) return event;
    const value = parseJson(data);
    if (!isObject(value)) return this.#options.garbled('an event of its stream is no JSON object');
    const error = this.#dialect.errorOf(value);
    if (error !== null) {
      this.#failure = { message: error.message, code: error.code ?? error.type ?? 'error' };
      return this.#options.refused(error);
    }
    for (const step of this.#reader.read(value, nameOf(event))) {
      this.#begun = true;
      this.#seen.add(step);
    }
    const renamed = this.#dialect.rename(data, value, this.#options.model);
    return renamed === data ? event : withData(event, renamed);
  }

  deltas(data: Buffer, event: string | null): readonly ChatDelta[] {
    this.#typed ??= this.#dialect.reader();
    return this.#typed.read(parseJson(data), event).filter(isChatDelta);
  }
}
