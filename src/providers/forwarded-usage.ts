import type { Outcome, Usage } from '../domain/chat/chat.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';
import { openAiNative } from '../wire/chat-completions/native.ts';
import { COHERE_NATIVE } from '../wire/cohere-chat/native.ts';
import type { NativeDialect } from '../wire/dialect.ts';
import { EMPTY_OUTCOME } from '../wire/exchange.ts';
import { GENERATE_CONTENT } from '../wire/generate-content/native.ts';
import { count } from '../wire/json/fields.ts';
import { MEDIA } from '../wire/media/native.ts';
import { MESSAGES } from '../wire/messages/native.ts';
import { RESPONSES_NATIVE } from '../wire/responses/native.ts';
import { a2aReader } from './a2a-answers.ts';
import {
  type UsageReader,
  eventReader,
  hasBilledQuantity,
  lineReader,
  messageReader,
  type ForwardedAnswer,
  wholeReader,
} from './forwarded-readers.ts';

const OPENAI = openAiNative();
const OPENROUTER = openAiNative({ reportsCost: true });

/** Dialect of the answers of an endpoint. Null when usage is read from the members that known vendors use. */
function dialectOf({ dialect, medium, answers }: Endpoint, provider: string): NativeDialect | null {
  const openAi = provider === 'openrouter' ? OPENROUTER : OPENAI;
  switch (dialect) {
    case 'messages':
      return MESSAGES;
    case 'responses':
      return RESPONSES_NATIVE;
    case 'generate-content':
      return GENERATE_CONTENT;
    case 'cohere-chat':
      return COHERE_NATIVE;
    case 'chat-completions':
    case 'completions':
      return openAi;
    case null:
      if (medium !== undefined) return MEDIA[medium];
      // `member` is null for an endpoint whose answers are not parsed.
      return answers.member === null ? null : openAi;
    case 'converse':
    case 'ollama-chat':
      return null;
  }
}

/** Reader for the content type of an answer. Null for a compressed answer and for other content types. */
function readerByContentType(answer: ForwardedAnswer, headers: Readonly<Record<string, string>>): UsageReader | null {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return null;
  const type = headers['content-type'] ?? '';
  if (/^\s*text\/event-stream/i.test(type)) return eventReader(answer);
  if (/vnd\.amazon\.eventstream/i.test(type)) return messageReader(answer);
  if (/stream\+json|ndjson|jsonl/i.test(type)) return lineReader(answer);
  const isTranscript = answer.request.endpoint?.medium === 'transcript';
  return /json/i.test(type) || isTranscript ? wholeReader(answer) : null;
}

/** Token counts in the headers of Amazon Bedrock's answers. Null when there are none. */
function usageInHeaders(headers: Readonly<Record<string, string>>): Usage | null {
  const countIn = (kind: string): number | null => {
    const value = headers[`x-amzn-bedrock-${kind}-token-count`];
    return value === undefined || !/^\d{1,12}$/.test(value) ? null : count(Number(value));
  };
  const [inputTokens, outputTokens] = [countIn('input'), countIn('output')];
  return inputTokens === null && outputTokens === null ? null : tokenUsage(inputTokens ?? 0, outputTokens ?? 0);
}

const tokenUsage = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

/** Estimated bytes of text per token. */
const BYTES_PER_TOKEN = 4;

/**
 * Creates the reader of the usage of an answer, for its cost. Null for a call with a fixed cost, unless it is of A2A.
 *
 * When an endpoint billed by tokens reports no usage, the tokens are estimated:
 * - input: one token for 4 bytes of the request
 * - generated text: one token for each event of a stream, or for 4 bytes of a whole answer
 *
 * A stream that ends early has at least as many output tokens as events.
 */
export function createUsageReader(request: Forwarded, headers: Readonly<Record<string, string>>): UsageReader | null {
  const { endpoint, provider, cost, protocol } = request;
  if (protocol === 'a2a') return a2aReader(request, headers);
  if (cost !== null) return null;
  const dialect = endpoint === null ? null : dialectOf(endpoint, provider);
  const bodyReader = readerByContentType({ request, dialect }, headers);
  const headerUsage = usageInHeaders(headers);
  const isBilledByTokens = endpoint !== null && endpoint.medium === undefined && endpoint.billedBy === undefined;
  const hasTextOutput = (endpoint?.dialect ?? null) !== null;
  let answerBytes = 0;
  let ended = false;

  function estimatedOutputTokens(): number {
    if (!hasTextOutput) return 0;
    const events = bodyReader?.events ?? 0;
    return events > 0 ? events : Math.ceil(answerBytes / BYTES_PER_TOKEN);
  }

  function outcome(): Outcome {
    const reported = bodyReader?.outcome() ?? EMPTY_OUTCOME;
    const { usage } = reported;
    if (usage === null && headerUsage !== null) return { ...reported, usage: headerUsage };
    if (!isBilledByTokens) return reported;
    if (usage !== null) {
      const endedEarly = !ended;
      const events = bodyReader?.events ?? 0;
      const hasMoreEvents = events > usage.outputTokens;
      return endedEarly && hasMoreEvents ? { ...reported, usage: { ...usage, outputTokens: events } } : reported;
    }
    if (hasBilledQuantity(reported) || answerBytes === 0) return reported;
    const inputTokens = Math.ceil(request.body.length / BYTES_PER_TOKEN);
    return { ...reported, usage: tokenUsage(inputTokens, estimatedOutputTokens()) };
  }

  return {
    get events() {
      return bodyReader?.events ?? 0;
    },
    add(bytes) {
      answerBytes += bytes.length;
      bodyReader?.add(bytes);
    },
    end() {
      ended = true;
      bodyReader?.end();
    },
    outcome,
  };
}
