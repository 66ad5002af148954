import { isJsonObject } from '../../domain/json-object.ts';
import { isChatDelta } from '../../domain/chat/answer-step.ts';
import type { ChatDelta, ModelRequest } from '../../domain/chat/chat.ts';
import { OutcomeCollector } from '../../domain/chat/outcome.ts';
import type { InboundDialect, NativeDialect, OutboundDialect, WholeAnswer, WholeAnswerContext } from '../dialect.ts';
import { type Fields, parseJson } from '../json/fields.ts';
import { asBuffer, topLevelMembers, upstreamChanges, withMembers } from '../json/members.ts';
import { StepsInspector } from '../sse/steps-inspector.ts';
import { createEventReader, errorOf, isMessage, stepsOfMessage } from './answer.ts';
import { readMessagesRequest } from './read-request.ts';
import { wholeMessage } from './whole-answer.ts';
import { createEventWriter } from './write-answer.ts';
import { type MessagesForm, writeMessagesRequest } from './write-request.ts';

/** Start of Anthropic's content events, which contain neither usage nor a finish reason. */
const PIECE_START = Buffer.from('{"type":"content_block_delta"');

const isPiece = (data: Buffer): boolean => data.subarray(0, PIECE_START.length).equals(PIECE_START);

/** Native dialect of messages: answers are forwarded unchanged, except for the model name. */
export const MESSAGES: NativeDialect = {
  errorOf,
  whole(bytes, context) {
    const value = parseJson(bytes);
    const error = errorOf(value);
    if (error !== null) return { error };
    return isMessage(value) ? wholeAnswer(bytes, value, context) : null;
  },
  inspector: (options) => new StepsInspector({ reader: createEventReader, errorOf, rename, isPiece }, options),
};

function wholeAnswer(bytes: Uint8Array, value: Fields, { model, textLimit }: WholeAnswerContext): WholeAnswer {
  const steps = stepsOfMessage(value);
  const collector = new OutcomeCollector(textLimit);
  for (const step of steps) collector.add(step);
  return {
    bytes: value['model'] === undefined ? bytes : withMembers(bytes, { model: JSON.stringify(model) }),
    outcome: collector.outcome(),
    deltas: (): readonly ChatDelta[] => steps.filter(isChatDelta),
  };
}

/** Replaces the model name. Only `message_start` has it, inside `message`. */
function rename(data: Buffer, { message }: Fields, model: string): Buffer {
  if (!isJsonObject(message) || message['model'] === undefined || message['model'] === model) return data;
  const found = topLevelMembers(data)?.findLast(({ key }) => key === 'message');
  if (found === undefined) return data;
  const renamed = withMembers(data.subarray(found.valueStart, found.end), { model: JSON.stringify(model) });
  return asBuffer(withMembers(data, { message: asBuffer(renamed).toString('utf8') }));
}

/** Dialect of callers of Anthropic's Messages API. */
export const MESSAGES_IN: InboundDialect = {
  readRequest: readMessagesRequest,
  writer: createEventWriter,
  whole: wholeMessage,
};

/** Dialect of upstreams with Anthropic's Messages API, for callers of other dialects. */
export function messagesOut(form: MessagesForm): OutboundDialect {
  return {
    writeRequest: (chat, losses) => writeMessagesRequest(chat, losses, form),
    reader: createEventReader,
    stepsOf: stepsOfMessage,
  };
}

/**
 * The request for an upstream of this dialect: with the upstream's model name and without gateway fields. Applies
 * `replaced`. All other values keep their bytes. `metadata` stays, because Anthropic has a member of this name.
 */
export const upstreamMessages = (request: ModelRequest, upstreamModel: string): Uint8Array =>
  withMembers(request.bytes, { ...upstreamChanges(request), model: JSON.stringify(upstreamModel) });
