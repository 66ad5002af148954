import type { ModelRequest, Outcome } from '../../domain/chat/chat.ts';
import type {
  AnswerReader,
  InboundDialect,
  NativeDialect,
  OutboundDialect,
  WholeAnswer,
  WholeAnswerContext,
} from '../dialect.ts';
import { object, parseJson } from '../json/fields.ts';
import { asBuffer, createModelRewriter, outlineOf, upstreamChanges, withMembers } from '../json/members.ts';
import {
  chargedOf,
  deltasOfAnswer,
  deltasOfChunk,
  errorOf,
  factsOf,
  isAnswer,
  searchUnitsOf,
  textOfDelta,
  toolNamesOf,
} from './answer.ts';
import { type AnswerForm, ChunkInspector } from './inspector.ts';
import { readChat } from './read-request.ts';
import { wholeChatCompletion } from './whole-answer.ts';
import { createChunkWriter } from './write-answer.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import { type ChatCompletionsForm, writeChat } from './write-request.ts';

/** Native dialect of endpoints with OpenAI's answer format: chat completions, completions, embeddings and others. */
export function openAiNative(form: AnswerForm = {}): NativeDialect {
  return {
    errorOf,
    whole(bytes, context) {
      const { member } = context.endpoint.answers;
      if (member === null) return null;
      // Vectors and images can be megabytes, so they are not parsed.
      const value = member === 'choices' ? parseJson(bytes) : outlineOf(bytes, member);
      const error = errorOf(value);
      if (error !== null) return { error };
      return isAnswer(value, member) ? wholeAnswer(bytes, value, context, form) : null;
    },
    inspector: (options) => new ChunkInspector(options, form),
  };
}

/** A complete answer in OpenAI's format. `value` is the parsed JSON or the outline of the bytes in `original`. */
export function wholeAnswer(
  original: Uint8Array,
  value: unknown,
  { model, textLimit }: Pick<WholeAnswerContext, 'model' | 'textLimit'>,
  { reportsCost, keepsModel }: AnswerForm = {},
): WholeAnswer {
  const { id, model: responseModel, finishReason, usage } = factsOf(value);
  const searchUnits = searchUnitsOf(value);
  const charged = reportsCost === true ? chargedOf(value) : undefined;
  const text = textLimit === 0 ? null : deltasOfAnswer(value).map(textOfDelta).join('').slice(0, textLimit);
  const calledTools = toolNamesOf(value, 'message');
  const reported: Outcome = {
    responseId: id,
    responseModel,
    finishReason,
    usage,
    failure: null,
    text,
    ...(calledTools.length === 0 ? {} : { calledTools }),
  };
  const outcome: Outcome =
    searchUnits === null && charged === undefined
      ? reported
      : {
          ...reported,
          ...(searchUnits === null ? {} : { measured: { unit: 'query', count: searchUnits } }),
          ...(charged === undefined ? {} : { charged }),
        };
  const bytes = asBuffer(original);
  return {
    bytes: keepsModel === true || responseModel === model ? bytes : createModelRewriter(model)(bytes),
    outcome,
    deltas: () => deltasOfAnswer(value),
  };
}

/** Dialect of callers that send chat completions. */
export const CHAT_COMPLETIONS_IN: InboundDialect = {
  readRequest: readChat,
  writer: createChunkWriter,
  whole: wholeChatCompletion,
};

/** Dialect of chat-completions upstreams, for callers of other dialects. */
export function chatCompletionsOut(form: ChatCompletionsForm): OutboundDialect {
  return {
    writeRequest: (chat, losses) => writeChat(chat, losses, form),
    reader: createChunkReader,
    stepsOf: (answer) => [beginOf(answer), ...deltasOfAnswer(answer)],
  };
}

function createChunkReader(): AnswerReader {
  let hasBegun = false;
  return {
    read(data) {
      const deltas = deltasOfChunk(data);
      const begin = beginOf(data);
      if (hasBegun || (begin.id === null && deltas.length === 0)) return deltas;
      hasBegun = true;
      return [begin, ...deltas];
    },
  };
}

function beginOf(answer: unknown): Extract<AnswerStep, { kind: 'begin' }> {
  const { id, model } = factsOf(answer);
  return { kind: 'begin', id, model };
}

/** Vendor differences of requests. */
export interface RequestForm {
  /** Whether `stream_options` may be sent. True when absent. Vendors that reject it report usage on every stream. */
  readonly streamOptions?: boolean;
}

/**
 * The request for the upstream: with the upstream's model name, without gateway fields, and with usage requested on
 * streams. Other values keep their bytes. `metadata` is removed unless `store` is true: providers accept it only then.
 * `stream_options` is removed where the vendor rejects it.
 */
export function upstreamRequest(
  request: ModelRequest,
  upstreamModel: string,
  { streamOptions = true }: RequestForm = {},
): Uint8Array {
  const { body } = request;
  const changes = upstreamChanges(request);
  changes['model'] = JSON.stringify(upstreamModel);
  if (body['metadata'] !== undefined && body['store'] !== true) changes['metadata'] = null;
  if (!streamOptions) changes['stream_options'] = null;
  else if (request.stream) {
    const options = object(body['stream_options']);
    if (options['include_usage'] !== true)
      changes['stream_options'] = JSON.stringify({ ...options, include_usage: true });
  }
  return withMembers(request.bytes, changes);
}
