import type { ChatDelta, Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Usd } from '../../domain/money.ts';
import type { InspectorOptions, StreamInspector } from '../dialect.ts';
import { parseJson } from '../json/fields.ts';
import { createModelRewriter, type ModelRewriter } from '../json/members.ts';
import { dataOf, eventOf } from '../sse/events.ts';
import {
  chargedOf,
  deltasOfChunk,
  errorOf,
  factsOf,
  isAnswer,
  isUsageChunk,
  textOfDelta,
  toolNamesOf,
} from './answer.ts';

/** Properties of a vendor's answers that cannot be read from the answers. */
export interface AnswerForm {
  /** Answers report the cost that the vendor bills. */
  readonly reportsCost?: boolean;
  /** The model name is not rewritten: the upstream selects a model for each call and reports it. */
  readonly keepsModel?: boolean;
}

const DONE = Buffer.from('[DONE]');
/** Key in every chunk. Chunks without it are parsed. A key in the text of an answer has escaped quotation marks. */
const FINISH_REASON = '"finish_reason"';
const USAGE = '"usage"';
const ERROR = '"error"';
/** Begins the first piece of a tool call. */
const NAME = '"name"';
/** After a key, as compact serializers write it. */
const IS_NULL = ':null';

/**
 * Inspects a stream of chat completions or completions. When the outcome keeps no text, most chunks in the middle of an
 * answer are not parsed: see `isMiddle`.
 */
export class ChunkInspector implements StreamInspector {
  readonly #options: InspectorOptions;
  readonly #form: AnswerForm;
  readonly #rewriter: ModelRewriter | null;
  #hasBegun = false;
  #sawDone = false;
  #responseId: string | null = null;
  #responseModel: string | null = null;
  #finishReason: string | null = null;
  #usage: Usage | null = null;
  #failure: Outcome['failure'] = null;
  #charged: Usd | undefined;
  #text = '';
  #calledTools: string[] | null = null;
  pieces = 0;

  constructor(options: InspectorOptions, form: AnswerForm = {}) {
    this.#options = options;
    this.#form = form;
    this.#rewriter = form.keepsModel === true ? null : createModelRewriter(options.model);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get complete(): boolean {
    return this.#sawDone || this.#finishReason !== null;
  }

  outcome(): Outcome {
    return {
      responseId: this.#responseId,
      responseModel: this.#responseModel,
      finishReason: this.#finishReason,
      usage: this.#usage,
      ...(this.#charged === undefined ? {} : { charged: this.#charged }),
      failure: this.#failure,
      text: this.#options.textLimit === 0 ? null : this.#text,
      ...(this.#calledTools === null ? {} : { calledTools: this.#calledTools }),
    };
  }

  inspect(event: Buffer): Buffer | null | Error {
    const data = dataOf(event);
    if (data === null) return event;
    if (data.equals(DONE)) {
      this.#sawDone = true;
      this.#hasBegun = true;
      return event;
    }
    // The first event usually contains only the role, so it is not counted.
    if (this.#hasBegun) this.pieces += 1;
    if (this.#hasBegun && this.#options.textLimit === 0 && isMiddle(data)) return this.#rewritten(event, data);
    const chunk = parseJson(data);
    if (!isAnswer(chunk, 'choices'))
      return this.#options.formatError('an event of its stream is not a chunk of an answer');
    const error = errorOf(chunk);
    if (error !== null) {
      this.#failure = { message: error.message, code: error.code ?? error.type ?? 'error' };
      return this.#options.upstreamError(error);
    }
    const facts = factsOf(chunk);
    this.#responseId ??= facts.id;
    this.#responseModel = facts.model || this.#responseModel;
    this.#finishReason = facts.finishReason ?? this.#finishReason;
    this.#usage = facts.usage ?? this.#usage;
    if (this.#form.reportsCost === true) this.#charged = chargedOf(chunk) ?? this.#charged;
    this.#keepTools(chunk);
    if (this.#options.textLimit > 0) this.#keepText(chunk);
    this.#hasBegun = true;
    if (this.#options.removeUsageChunk && isUsageChunk(chunk)) return null;
    return this.#rewritten(event, data);
  }

  deltas(data: Buffer): readonly ChatDelta[] {
    return deltasOfChunk(parseJson(data));
  }

  #rewritten(event: Buffer, data: Buffer): Buffer {
    const renamed = this.#rewriter?.(data) ?? data;
    return renamed === data ? event : eventOf(renamed);
  }

  #keepTools(chunk: unknown): void {
    const names = toolNamesOf(chunk, 'delta');
    if (names.length > 0) (this.#calledTools ??= []).push(...names);
  }

  #keepText(chunk: unknown): void {
    for (const delta of deltasOfChunk(chunk)) {
      const remaining = this.#options.textLimit - this.#text.length;
      if (remaining > 0) this.#text += textOfDelta(delta).slice(0, remaining);
    }
  }
}

/**
 * Whether a chunk certainly has one choice, with a finish reason of null, no usage, no error and no name of a tool.
 * Searches its text, without parsing it. One conversion to text and searches in it cost less than searches in the
 * bytes.
 */
function isMiddle(data: Buffer): boolean {
  const text = data.toString('latin1');
  const reason = text.indexOf(FINISH_REASON);
  if (reason === -1) return false;
  const reasonEnd = reason + FINISH_REASON.length;
  if (!text.startsWith(IS_NULL, reasonEnd)) return false;
  const hasSecondChoice = text.indexOf(FINISH_REASON, reasonEnd) !== -1;
  return !hasSecondChoice && !text.includes(NAME) && isNullEverywhere(text, USAGE) && isNullEverywhere(text, ERROR);
}

/** Whether each member with this key is null. A chunk may have usage in several places. */
function isNullEverywhere(text: string, key: string): boolean {
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + key.length))
    if (!text.startsWith(IS_NULL, at + key.length)) return false;
  return true;
}
