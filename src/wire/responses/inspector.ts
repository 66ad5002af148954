import { isJsonObject } from '../../domain/json-object.ts';
import { isChatDelta } from '../../domain/chat/answer-step.ts';
import type { ChatDelta, Outcome } from '../../domain/chat/chat.ts';
import { OutcomeCollector } from '../../domain/chat/outcome.ts';
import { containersOfEvent } from '../../domain/upstream-objects/named-containers.ts';
import type { AnswerReader, InspectorOptions, StreamInspector } from '../dialect.ts';
import { object, parseJson, text } from '../json/fields.ts';
import { startsWith } from '../json/members.ts';
import { dataOf, nameOf, withData } from '../sse/events.ts';
import { createEventReader, errorOf, isFinalType } from './read-answer.ts';
import { mayNameContainer } from './container-names.ts';
import { renamedEvent, type PublicNames } from './rename.ts';

const DONE = Buffer.from('[DONE]');
const QUOTE = 0x22;
/** Prefix of OpenAI's events, whose first member is the type. Events without this prefix are parsed. */
const TYPE_PREFIX = Buffer.from('{"type":"response.');
const DELTA_SUFFIX = Buffer.from('.delta"');
/** Maximum bytes of an event that are searched for the end of its type. */
const MAX_TYPE_BYTES = 80;

/** Inspects a streamed response. When the outcome keeps no text, most delta events are not parsed: see `isPiece`. */
export class ResponseInspector implements StreamInspector {
  readonly #options: InspectorOptions;
  readonly #names: PublicNames;
  readonly #reader: AnswerReader = createEventReader();
  readonly #collector: OutcomeCollector;
  #deltaReader: AnswerReader | null = null;
  #failure: Outcome['failure'] = null;
  #responseId: string | null = null;
  #hasBegun = false;
  #isBilledLater = false;
  pieces = 0;
  #ended = false;

  constructor(options: InspectorOptions) {
    this.#options = options;
    this.#collector = new OutcomeCollector(options.textLimit);
    const { model, idOf = (id) => id, previousId = null } = options;
    this.#names = { model, idOf, previousId };
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get complete(): boolean {
    return this.#ended;
  }

  outcome(): Outcome {
    const outcome = this.#collector.outcome();
    const id = this.#responseId;
    return {
      ...outcome,
      responseId: id === null ? null : this.#names.idOf(id),
      failure: this.#failure ?? outcome.failure,
      ...(this.#isBilledLater && !this.#ended ? { billedLater: true as const } : {}),
    };
  }

  inspect(event: Buffer): Buffer | null | Error {
    const data = dataOf(event);
    if (data === null) return event;
    if (data.equals(DONE)) {
      this.#ended = true;
      return event;
    }
    if (this.#hasBegun && this.#options.textLimit === 0 && isPiece(data)) {
      this.pieces += 1;
      return event;
    }
    const value = parseJson(data);
    if (!isJsonObject(value)) return this.#options.formatError('an event of its stream is not a JSON object');
    const error = errorOf(value);
    if (error !== null) {
      this.#failure = { message: error.message, code: error.code ?? error.type ?? 'error' };
      return this.#options.upstreamError(error);
    }
    const { onContainers } = this.#options;
    if (onContainers !== undefined && mayNameContainer(data)) onContainers(containersOfEvent(value));
    const response = object(value['response']);
    this.#hasBegun = true;
    this.#ended ||= isFinalType(value['type']);
    if (response['background'] === true) {
      this.#isBilledLater = this.#options.onBackground?.(response) === true;
    }
    this.#responseId ??= text(response['id']);
    for (const step of this.#reader.read(value, nameOf(event))) {
      this.#collector.add(step);
      if (step.kind === 'text' || step.kind === 'reasoning' || step.kind === 'toolCall') this.pieces += 1;
    }
    const renamed = renamedEvent(data, response, this.#names);
    return renamed === data ? event : withData(event, renamed);
  }

  deltas(data: Buffer, event: string | null): readonly ChatDelta[] {
    this.#deltaReader ??= createEventReader();
    return this.#deltaReader.read(parseJson(data), event).filter(isChatDelta);
  }
}

/** Whether the type of an event ends with `.delta`. False for an event that does not begin with its type. */
function isPiece(data: Buffer): boolean {
  if (!startsWith(data, TYPE_PREFIX)) return false;
  const suffixStart = data.subarray(0, MAX_TYPE_BYTES).indexOf(DELTA_SUFFIX);
  if (suffixStart === -1) return false;
  const endOfType = data.indexOf(QUOTE, TYPE_PREFIX.length);
  const endOfSuffix = suffixStart + DELTA_SUFFIX.length - 1;
  return endOfType === endOfSuffix;
}
