import { isJsonObject } from '../../domain/json-object.ts';
import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerError, AnswerReader } from '../dialect.ts';
import { count, type Fields, list, object, text, lookupTable } from '../json/fields.ts';

/** OpenAI finish reasons, by Google's. All others are `stop`. */
const FINISH_REASONS = lookupTable<string>({
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  MODEL_ARMOR: 'content_filter',
});

/** Error of an answer, or of the first element of an answer that is an array. Null when there is none. */
export function errorOf(value: unknown): AnswerError | null {
  const { error } = object(Array.isArray(value) ? value[0] : value);
  if (!isJsonObject(error)) return null;
  const code = error['code'];
  return {
    message: text(error['message']) ?? JSON.stringify(error),
    type: text(error['status']),
    param: null,
    code: typeof code === 'number' ? String(code) : text(code),
  };
}

/** Whether parsed JSON can be an answer or a chunk of one. */
export const isAnswer = (value: unknown): value is Fields =>
  isJsonObject(value) &&
  (Array.isArray(value['candidates']) || isJsonObject(value['promptFeedback']) || isJsonObject(value['usageMetadata']));

/** Reads usage. `promptTokenCount` includes cached tokens. `candidatesTokenCount` does not include thinking tokens. */
function usageOf(value: unknown): Usage | null {
  const usage = object(value);
  const prompt = count(usage['promptTokenCount']);
  const candidates = count(usage['candidatesTokenCount']) ?? count(usage['responseTokenCount']);
  if (prompt === null && candidates === null && count(usage['totalTokenCount']) === null) return null;
  const reasoningTokens = count(usage['thoughtsTokenCount']) ?? 0;
  return {
    inputTokens: (prompt ?? 0) + (count(usage['toolUsePromptTokenCount']) ?? 0),
    outputTokens: (candidates ?? 0) + reasoningTokens,
    cacheReadTokens: count(usage['cachedContentTokenCount']) ?? 0,
    cacheWriteTokens: 0,
    reasoningTokens,
    ...mediaIn(usage),
  };
}

const MEDIA = { AUDIO: 'audio', IMAGE: 'image', VIDEO: 'video' } as const;

/** Tokens by medium. A medium without tokens is absent. */
function mediaIn(usage: Fields): Pick<Usage, 'audio' | 'image' | 'video'> {
  const names = ['promptTokensDetails', 'candidatesTokensDetails', 'cacheTokensDetails'] as const;
  const details = names.map((name) => list(usage[name]).map(object));
  if (details.every((one) => one.length === 0)) return {};
  return Object.fromEntries(
    Object.entries(MEDIA).flatMap(([modality, medium]) => {
      const [inputTokens = 0, outputTokens = 0, cacheReadTokens = 0] = details.map((one) =>
        one.reduce((sum, part) => sum + (part['modality'] === modality ? (count(part['tokenCount']) ?? 0) : 0), 0),
      );
      return inputTokens + outputTokens === 0 ? [] : [[medium, { inputTokens, outputTokens, cacheReadTokens }]];
    }),
  );
}

const groundingOf = (chunk: Fields): readonly Fields[] =>
  list(chunk['candidates']).map((one) => object(object(one)['groundingMetadata']));

/** Number of web searches in a chunk. */
const searchesIn = (chunk: Fields): number =>
  groundingOf(chunk).reduce<number>((sum, one) => sum + list(one['webSearchQueries']).length, 0);

/** Whether a chunk cites Google Maps. */
const citesMaps = (chunk: Fields): boolean =>
  groundingOf(chunk).some((one) => list(one['groundingChunks']).some((part) => isJsonObject(object(part)['maps'])));

/** Usage with the searches of the answer. An answer with maps counts as one map search: Google reports no number. */
const withSearches = (usage: Usage, webSearches: number, hasMaps: boolean): Usage =>
  webSearches === 0 && !hasMaps
    ? usage
    : { ...usage, ...(webSearches === 0 ? {} : { webSearches }), ...(hasMaps ? { mapSearches: 1 } : {}) };

/** Reads a streamed answer, whose events are chunks. A complete answer can be read as one chunk. */
export function createContentReader(): AnswerReader {
  let hasBegun = false;
  let callCount = 0;
  let searches = 0;
  let hasMaps = false;
  let hasFinished = false;

  /** Steps of a part. Its proof is Google's signature, which callers send back with the part in later requests. */
  function readPart(part: Fields): readonly AnswerStep[] {
    const proof = text(part['thoughtSignature']);
    if (isJsonObject(part['functionCall'])) {
      const call = part['functionCall'];
      const index = callCount;
      callCount += 1;
      return [
        {
          kind: 'toolCall',
          index,
          id: text(call['id']) ?? `call_${crypto.randomUUID()}`,
          name: text(call['name']) ?? '',
          arguments: JSON.stringify(call['args'] ?? {}),
        },
        ...(proof === null ? [] : [{ kind: 'toolCallProof' as const, index, proof }]),
      ];
    }
    const words = text(part['text']) ?? '';
    const step: AnswerStep = { kind: part['thought'] === true ? 'reasoning' : 'text', text: words };
    return [...(words === '' ? [] : [step]), ...(proof === null ? [] : [{ kind: 'reasoningProof' as const, proof }])];
  }

  return {
    read(data) {
      const chunk = object(data);
      const steps: AnswerStep[] = [];
      if (!hasBegun && isAnswer(data)) {
        hasBegun = true;
        steps.push({ kind: 'begin', id: text(chunk['responseId']), model: text(chunk['modelVersion']) });
      }
      const candidate = object(list(chunk['candidates']).find((one) => (object(one)['index'] ?? 0) === 0));
      for (const part of list(object(candidate['content'])['parts'])) steps.push(...readPart(object(part)));
      const reason = text(candidate['finishReason']);
      const blockReason = text(object(chunk['promptFeedback'])['blockReason']);
      if (!hasFinished && (reason !== null || blockReason !== null)) {
        hasFinished = true;
        const finishReason = reason === null ? 'content_filter' : (FINISH_REASONS[reason] ?? 'stop');
        // Google's reason STOP also ends answers with function calls.
        steps.push({ kind: 'finish', reason: callCount > 0 && finishReason === 'stop' ? 'tool_calls' : finishReason });
      }
      searches += searchesIn(chunk);
      hasMaps ||= citesMaps(chunk);
      const usage = usageOf(chunk['usageMetadata']);
      if (usage !== null) steps.push({ kind: 'usage', usage: withSearches(usage, searches, hasMaps) });
      return steps;
    },
  };
}
