import type { Outcome, Usage } from '../domain/chat/chat.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';
import { openAiFrame } from '../wire/chat-completions/native.ts';
import { COHERE_NATIVE } from '../wire/cohere-chat/native.ts';
import type { NativeDialect } from '../wire/dialect.ts';
import { GENERATE_CONTENT } from '../wire/generate-content/native.ts';
import { count } from '../wire/json/fields.ts';
import { MEDIA } from '../wire/media/native.ts';
import { MESSAGES } from '../wire/messages/native.ts';
import { RESPONSES_FRAME } from '../wire/responses/native.ts';
import {
  type AnswerReader,
  eventReader,
  lineReader,
  messageReader,
  type ReadAnswer,
  wholeReader,
} from './forwarded-readers.ts';

const OPENAI = openAiFrame();
const OPENROUTER = openAiFrame({ namesPrice: true });

/** Format of the answers of an endpoint; null for one of which only common members of usage are read. */
function dialectOf({ dialect, medium, answers }: Endpoint, provider: string): NativeDialect | null {
  const openAi = provider === 'openrouter' ? OPENROUTER : OPENAI;
  switch (dialect) {
    case 'messages':
      return MESSAGES;
    case 'responses':
      return RESPONSES_FRAME;
    case 'generate-content':
      return GENERATE_CONTENT;
    case 'cohere-chat':
      return COHERE_NATIVE;
    case 'chat-completions':
    case 'completions':
      return openAi;
    case null:
      if (medium !== undefined) return MEDIA[medium];
      return answers.member === null ? null : openAi;
    case 'converse':
    case 'ide':
    case 'ollama-chat':
      return null;
  }
}

/** The reader of an answer; null for one that is not text. */
function innerReader(answer: ReadAnswer, headers: Readonly<Record<string, string>>): AnswerReader | null {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return null;
  const type = headers['content-type'] ?? '';
  if (/^\s*text\/event-stream/i.test(type)) return eventReader(answer);
  if (/vnd\.amazon\.eventstream/i.test(type)) return messageReader(answer);
  if (/stream\+json|ndjson|jsonl/i.test(type)) return lineReader(answer);
  const isTranscript = answer.request.endpoint?.medium === 'transcript';
  return /json/i.test(type) || isTranscript ? wholeReader(answer) : null;
}

/** Counts of tokens in the headers of Amazon Bedrock's answers. */
function usageInHeaders(headers: Readonly<Record<string, string>>): Usage | null {
  const numberIn = (kind: string): number | null => {
    const value = headers[`x-amzn-bedrock-${kind}-token-count`];
    return value === undefined || !/^\d{1,12}$/.test(value) ? null : count(Number(value));
  };
  const [inputTokens, outputTokens] = [numberIn('input'), numberIn('output')];
  return inputTokens === null && outputTokens === null ? null : tokens(inputTokens ?? 0, outputTokens ?? 0);
}

const tokens = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

/** Bytes of text per token. */
const BYTES_PER_TOKEN = 4;

const EMPTY: Outcome = {
  responseId: null,
  responseModel: null,
  finishReason: null,
  usage: null,
  failure: null,
  text: null,
};

/**
 * Reads the usage of an answer for its cost. Tokens of a known endpoint whose answer reports none are estimated: a token
 * for 4 bytes of the request, and for each event of a stream or 4 bytes of a whole answer. The same applies to a stream
 * that ends early. Null for a call with a fixed cost.
 */
export function readerOf(request: Forwarded, headers: Readonly<Record<string, string>>): AnswerReader | null {
  const { endpoint, provider, body, cost } = request;
  if (cost !== null) return null;
  const dialect = endpoint === null ? null : dialectOf(endpoint, provider);
  const inner = innerReader({ request, dialect }, headers);
  const inHeaders = usageInHeaders(headers);
  const isByTokens = endpoint !== null && endpoint.medium === undefined && endpoint.billedBy === undefined;
  const writes = (endpoint?.dialect ?? null) !== null;
  let size = 0;
  let ended = false;

  function written(): number {
    if (!writes) return 0;
    const events = inner?.events ?? 0;
    return events > 0 ? events : Math.ceil(size / BYTES_PER_TOKEN);
  }

  function outcome(): Outcome {
    const read = inner?.outcome() ?? EMPTY;
    const { usage, measured, charged } = read;
    if (usage === null && inHeaders !== null) return { ...read, usage: inHeaders };
    if (usage !== null && !ended && isByTokens && inner !== null && inner.events > usage.outputTokens)
      return { ...read, usage: { ...usage, outputTokens: inner.events } };
    if (usage !== null || measured !== undefined || charged !== undefined || !isByTokens || size === 0) return read;
    return { ...read, usage: tokens(Math.ceil(body.length / BYTES_PER_TOKEN), written()) };
  }

  return {
    events: 0,
    add(bytes) {
      size += bytes.length;
      inner?.add(bytes);
    },
    end() {
      ended = true;
      inner?.end();
    },
    outcome,
  };
}
