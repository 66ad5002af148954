import { isJsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { BilledQuantity } from '../../domain/inference/billed-quantity.ts';
import { videoSecondsOf } from '../../domain/upstream-objects/video-quantity.ts';
import { count, type Fields, list, number, object, text } from '../json/fields.ts';

/** Reported usage of an answer, or of one event of a stream. Members that are not reported are null or undefined. */
export interface Reported {
  readonly usage: Usage | null;
  readonly measured: BilledQuantity | undefined;
  /** Model that answered. */
  readonly model: string | null;
}

/** Members with input tokens, of all vendors. The first member with a count applies. */
const INPUT_MEMBERS = [
  'prompt_tokens',
  'input_tokens',
  'inputTokens',
  'promptTokenCount',
  'inputTokenCount',
  'input_token_count',
  'inputTextTokenCount',
] as const;
/** Members with output tokens, of all vendors. The first member with a count applies. */
const OUTPUT_MEMBERS = [
  'completion_tokens',
  'output_tokens',
  'outputTokens',
  'candidatesTokenCount',
  'outputTokenCount',
  'generated_token_count',
] as const;
/** Members with the sum of all tokens, for vendors that report only the sum. */
const TOTAL_MEMBERS = ['total_tokens', 'totalTokens', 'totalTokenCount'] as const;
/** Cached tokens that the input tokens do not include, in the members of Anthropic and Amazon Bedrock. */
const CACHE_READ_MEMBERS = ['cache_read_input_tokens', 'cacheReadInputTokens'] as const;
const CACHE_WRITE_MEMBERS = ['cache_creation_input_tokens', 'cacheWriteInputTokens'] as const;

/** The first count among these members. Null when there is none. */
const firstCount = (fields: Fields, names: readonly string[]): number | null => {
  const name = names.find((one) => count(fields[one]) !== null);
  return name === undefined ? null : count(fields[name]);
};

/** Tokens of an object with the members of any known vendor. Null when it has none. */
function tokensIn(fields: Fields): Usage | null {
  const output = firstCount(fields, OUTPUT_MEMBERS);
  const total = output === null ? firstCount(fields, TOTAL_MEMBERS) : null;
  const input = firstCount(fields, INPUT_MEMBERS) ?? total;
  if (input === null && output === null) return null;
  // OpenAI's `prompt_tokens` include cached tokens.
  const excludesCached = fields['prompt_tokens'] === undefined;
  const cacheRead = firstCount(fields, CACHE_READ_MEMBERS) ?? 0;
  const cacheWrite = firstCount(fields, CACHE_WRITE_MEMBERS) ?? 0;
  const details = object(fields['prompt_tokens_details'] ?? fields['input_tokens_details']);
  const cached = count(details['cached_tokens']) ?? count(fields['cachedContentTokenCount']) ?? 0;
  const thoughts = count(fields['thoughtsTokenCount']) ?? 0;
  const outputDetails = object(fields['completion_tokens_details'] ?? fields['output_tokens_details']);
  return {
    inputTokens: (input ?? 0) + (excludesCached ? cacheRead + cacheWrite : 0),
    outputTokens: (output ?? 0) + thoughts,
    cacheReadTokens: cached + cacheRead,
    cacheWriteTokens: cacheWrite,
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

/** The greater count of each kind. Counts of a stream are cumulative, and some events lack some of the counts. */
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

/** Input and output tokens of all parts of an answer, such as the texts of a batch. Null when no part has tokens. */
const sumOfTokens = (parts: readonly (Usage | null)[]): Usage | null =>
  parts.reduce<Usage | null>((sum, part) => {
    if (part === null) return sum;
    const { inputTokens, outputTokens } = sum ?? NO_USAGE;
    return { ...NO_USAGE, inputTokens: inputTokens + part.inputTokens, outputTokens: outputTokens + part.outputTokens };
  }, null);

/** Objects that may contain usage: members of the answer itself, or of the answer inside an event. */
function usageObjects(answer: Fields): readonly Fields[] {
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

/** Sum of the tokens that Vertex AI reports for each embedded text, and Watsonx for each result. */
function usageOfParts({ predictions, results }: Fields): Usage | null {
  const embedded = list(predictions).map((one) => {
    const { token_count: tokens } = object(object(object(one)['embeddings'])['statistics']);
    return typeof tokens === 'number' && tokens >= 0 ? { ...NO_USAGE, inputTokens: Math.ceil(tokens) } : null;
  });
  const generated = list(results).map((one) => tokensIn(object(one)));
  return sumOfTokens([...embedded, ...generated]);
}

/** One year in seconds. A longer duration is implausible and is ignored. */
const MAX_SECONDS = 31_536_000;

/** Seconds of audio in an answer. Null when missing or implausible. */
function secondsIn(answer: Fields): number | null {
  const seconds = reportedSeconds(answer);
  return seconds !== null && seconds >= 0 && seconds < MAX_SECONDS ? seconds : null;
}

/** Duration from Deepgram (seconds), Azure's fast transcription (ms) or Azure's recognition (ticks of 100 ns). */
function reportedSeconds(answer: Fields): number | null {
  const seconds = number(object(answer['metadata'])['duration']);
  if (seconds !== null) return seconds;
  const milliseconds = number(answer['durationMilliseconds']);
  if (milliseconds !== null) return milliseconds / 1e3;
  const ticks = answer['RecognitionStatus'] === undefined ? null : number(answer['Duration']);
  return ticks === null ? null : ticks / 1e7;
}

/** Billed quantity in an answer: audio, pages or credits of a document, searches or images. */
function measuredIn(answer: Fields): BilledQuantity | undefined {
  const seconds = secondsIn(answer);
  if (seconds !== null) return { unit: 'second', count: seconds };
  const document = documentQuantityIn(answer);
  if (document !== undefined) return document;
  const searches = count(object(object(answer['meta'])['billed_units'])['search_units']);
  if (searches !== null) return { unit: 'query', count: searches };
  const images = [...list(answer['images']), ...list(answer['predictions']).filter(isImage)];
  if (images.length === 0) return undefined;
  return { unit: 'image', count: images.length, size: sizeOf(object(images[0])), quality: null };
}

/** Size of an image as `1024x1024`. Null where the answer has no width and height. */
function sizeOf(image: Fields): string | null {
  const [width, height] = [count(image['width']), count(image['height'])];
  return width && height ? `${width}x${height}` : null;
}

/** Pages of a document that Mistral recognized, or credits of a document that Reducto parsed. */
export function documentQuantityIn(answer: Fields): BilledQuantity | undefined {
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

/**
 * Billed seconds of a video job that a POST creates. Undefined for a failed job, for another object, and for an
 * implausible length. Later reads of the job are free.
 */
export function createdVideo(answer: unknown): BilledQuantity | undefined {
  const video = object(answer);
  return video['object'] === 'video' && video['status'] !== 'failed' ? videoSecondsOf(video) : undefined;
}

const isImage = (value: unknown): boolean => text(object(value)['mimeType'])?.startsWith('image/') === true;

/**
 * Reported usage of an answer in an unknown JSON format, in the members of any known vendor. Null when the value is not
 * an object.
 */
export function reportedIn(value: unknown): Reported | null {
  if (!isJsonObject(value)) return null;
  let usage: Usage | null = null;
  for (const candidate of usageObjects(value)) usage ??= tokensIn(candidate);
  usage ??= tokensIn(object(value['amazon-bedrock-invocationMetrics']));
  // Amazon Titan has its counts at the top level.
  usage ??= 'inputTextTokenCount' in value ? tokensIn(value) : null;
  usage ??= usageOfParts(value);
  const model = text(value['model']) ?? text(value['modelVersion']) ?? text(object(value['response'])['model']);
  return { usage, measured: measuredIn(value), model: model ?? text(object(value['message'])['model']) };
}
