import { isJsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { Measured } from '../../domain/inference/billed-quantity.ts';
import { count, type Fields, list, number, object, text } from '../json/fields.ts';

/** Reported usage of an answer, or of one event of a stream. Null and undefined where it reports none. */
export interface Reported {
  readonly usage: Usage | null;
  readonly measured: Measured | undefined;
  /** Model that answered. */
  readonly model: string | null;
}

/** Members of input and output tokens, by vendor. The first that is a count applies. */
const INPUT = [
  'prompt_tokens',
  'input_tokens',
  'inputTokens',
  'promptTokenCount',
  'inputTokenCount',
  'input_token_count',
  'inputTextTokenCount',
] as const;
const OUTPUT = [
  'completion_tokens',
  'output_tokens',
  'outputTokens',
  'candidatesTokenCount',
  'outputTokenCount',
  'generated_token_count',
] as const;
/** All tokens, where the vendor does not divide them. */
const TOTAL = ['total_tokens', 'totalTokens', 'totalTokenCount'] as const;
/** Cached tokens beside the input tokens: Anthropic's members, and those of Amazon Bedrock. */
const READ_BESIDE = ['cache_read_input_tokens', 'cacheReadInputTokens'] as const;
const WRITTEN_BESIDE = ['cache_creation_input_tokens', 'cacheWriteInputTokens'] as const;

const firstOf = (fields: Fields, names: readonly string[]): number | null => {
  const name = names.find((one) => count(fields[one]) !== null);
  return name === undefined ? null : count(fields[name]);
};

/** Tokens of an object with the members of any known vendor. Null when it has none. */
function tokensIn(fields: Fields): Usage | null {
  const input = firstOf(fields, INPUT) ?? (firstOf(fields, OUTPUT) === null ? firstOf(fields, TOTAL) : null);
  const output = firstOf(fields, OUTPUT);
  if (input === null && output === null) return null;
  const isBeside = fields['prompt_tokens'] === undefined;
  const read = firstOf(fields, READ_BESIDE) ?? 0;
  const written = firstOf(fields, WRITTEN_BESIDE) ?? 0;
  const details = object(fields['prompt_tokens_details'] ?? fields['input_tokens_details']);
  const cached = count(details['cached_tokens']) ?? count(fields['cachedContentTokenCount']) ?? 0;
  const thoughts = count(fields['thoughtsTokenCount']) ?? 0;
  const outputDetails = object(fields['completion_tokens_details'] ?? fields['output_tokens_details']);
  return {
    inputTokens: (input ?? 0) + (isBeside ? read + written : 0),
    outputTokens: (output ?? 0) + thoughts,
    cacheReadTokens: cached + read,
    cacheWriteTokens: written,
    reasoningTokens: (count(outputDetails['reasoning_tokens']) ?? 0) + thoughts,
  };
}

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** The greater count of each kind: counts of a stream only grow, and some events have a part of them. */
export function mergedUsage(left: Usage | null, right: Usage | null): Usage | null {
  if (left === null || right === null) return left ?? right;
  return {
    inputTokens: Math.max(left.inputTokens, right.inputTokens),
    outputTokens: Math.max(left.outputTokens, right.outputTokens),
    cacheReadTokens: Math.max(left.cacheReadTokens, right.cacheReadTokens),
    cacheWriteTokens: Math.max(left.cacheWriteTokens, right.cacheWriteTokens),
    reasoningTokens: Math.max(left.reasoningTokens, right.reasoningTokens),
  };
}

/** Sum over the parts of an answer, such as the texts of a batch. Null when none has tokens. */
const summed = (parts: readonly (Usage | null)[]): Usage | null =>
  parts.reduce<Usage | null>((sum, part) => {
    if (part === null) return sum;
    const { inputTokens, outputTokens } = sum ?? NO_USAGE;
    return { ...NO_USAGE, inputTokens: inputTokens + part.inputTokens, outputTokens: outputTokens + part.outputTokens };
  }, null);

/** Objects of an answer that may hold its usage: its own, or those of the answer inside an event. */
function placesOf(answer: Fields): readonly Fields[] {
  const inner = ['response', 'message', 'delta'].map((name) => object(answer[name]));
  return [answer, ...inner].flatMap((one) => {
    const usage = object(one['usage']);
    const meta = object(one['meta']);
    return [
      object(usage['billed_units']),
      object(usage['tokens']),
      usage,
      object(one['usageMetadata']),
      object(meta['billed_units']),
      object(meta['tokens']),
    ];
  });
}

/** Tokens that the answers of Vertex AI report for each embedded text, and those of Watsonx for each result. */
function partsOf({ predictions, results }: Fields): Usage | null {
  const embedded = list(predictions).map((one) => {
    const { token_count: tokens } = object(object(object(one)['embeddings'])['statistics']);
    return typeof tokens === 'number' && tokens >= 0 ? { ...NO_USAGE, inputTokens: Math.ceil(tokens) } : null;
  });
  const generated = list(results).map((one) => tokensIn(object(one)));
  return summed([...embedded, ...generated]);
}

/** One year. A longer duration is not in seconds. */
const MOST_SECONDS = 31_536_000;

/** Seconds of sound: Deepgram's, those of Azure's fast transcription, and those of its recognition, in ticks of 100 ns. */
function secondsIn(answer: Fields): number | null {
  const { Duration: ticks, durationMilliseconds: ms, RecognitionStatus: recognised } = answer;
  const seconds =
    number(object(answer['metadata'])['duration']) ??
    (number(ms) === null ? null : Number(ms) / 1e3) ??
    (recognised === undefined || number(ticks) === null ? null : Number(ticks) / 1e7);
  return seconds !== null && seconds >= 0 && seconds < MOST_SECONDS ? seconds : null;
}

function measuredIn(answer: Fields): Measured | undefined {
  const seconds = secondsIn(answer);
  if (seconds !== null) return { unit: 'second', count: seconds };
  const recognized = pagesIn(answer);
  if (recognized !== undefined) return recognized;
  const searches = count(object(object(answer['meta'])['billed_units'])['search_units']);
  if (searches !== null) return { unit: 'query', count: searches };
  const pictures = [...list(answer['images']), ...list(answer['predictions']).filter(isPicture)];
  return pictures.length === 0 ? undefined : { unit: 'image', count: pictures.length, size: null, quality: null };
}

/** Pages of recognized documents: Mistral's, and credits of Reducto. */
function pagesIn(answer: Fields): Measured | undefined {
  const { pages_processed: pages, pages_processed_annotation: annotated } = object(answer['usage_info']);
  const processed = count(pages);
  if (processed !== null) {
    const isAnnotated = (count(annotated) ?? 0) > 0 || text(answer['document_annotation']) !== null;
    return { unit: isAnnotated ? 'annotated_page' : 'page', count: processed };
  }
  const credits = number(object(answer['usage'])['credits']);
  const isParsed = count(object(answer['usage'])['num_pages']) !== null;
  return isParsed && credits !== null && credits >= 0 ? { unit: 'credit', count: Math.ceil(credits) } : undefined;
}

/** Names of resolutions by the shorter side, in pixels. Others are named as `720p`. */
const RESOLUTIONS: Readonly<Record<number, string>> = { 1440: '2k', 2160: '4k' };

/** Seconds of a video that a request has ordered. Reads of a video that was ordered before are free. */
export function orderedVideo(answer: unknown): Measured | undefined {
  const { object: kind, status, seconds, size } = object(answer);
  if (kind !== 'video' || status === 'failed') return undefined;
  const length = number(seconds) ?? Number(text(seconds) ?? Number.NaN);
  if (!(length > 0 && length < MOST_SECONDS)) return undefined;
  const sides = (text(size) ?? '').split('x').map(Number);
  const side = sides.length === 2 ? Math.min(...sides) : Number.NaN;
  const resolution = Number.isInteger(side) ? (RESOLUTIONS[side] ?? `${side}p`) : null;
  return { unit: 'video_second', count: length, resolution };
}

const isPicture = (value: unknown): boolean => text(object(value)['mimeType'])?.startsWith('image/') === true;

/** Reported usage of an answer in an unknown JSON format, in the members of any known vendor. */
export function reportedIn(value: unknown): Reported | null {
  if (!isJsonObject(value)) return null;
  let usage: Usage | null = null;
  for (const place of placesOf(value)) usage ??= tokensIn(place);
  usage ??= tokensIn(object(value['amazon-bedrock-invocationMetrics']));
  usage ??= 'inputTextTokenCount' in value ? tokensIn(value) : null;
  usage ??= partsOf(value);
  const model = text(value['model']) ?? text(value['modelVersion']) ?? text(object(value['response'])['model']);
  return { usage, measured: measuredIn(value), model: model ?? text(object(value['message'])['model']) };
}
