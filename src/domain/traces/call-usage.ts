import { attributeText, textAt } from './attribute-text.ts';
import { firstValue } from './conventions/convention.ts';
import { GEN_AI } from './conventions/gen-ai-attributes.ts';
import { CONVENTIONS } from './conventions/precedence.ts';
import type { RawSpan, SpanHead } from './span.ts';
import { longCacheWriteOf, tokenDetailsOf } from './token-details.ts';

/** Who a call was made to, as its span tells it. */
export interface CallNames {
  /** The names its model goes by, the most exact first; at least one. */
  readonly models: readonly string[];
  /** Who answered, as the sender names it. */
  readonly provider: string | null;
}

/** What a call used, as its span tells it. What it does not tell is null, never zero. */
export interface CallTokens {
  /** All input and output tokens, those below included. Neither is 0. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  /** What of the writes a cache keeps for an hour. */
  readonly longCacheWriteTokens: number | null;
  readonly reasoningTokens: number | null;
}

/** What a span tells of a model call that its price depends on. */
export interface CallUsage extends CallNames, CallTokens {}

/** Operations that are billed by tokens of text alone; a span of another convention names none. */
const OPERATIONS = new Set(['', 'chat', 'completion', 'text_completion', 'generate_content']);
const OUTPUT_TYPES = new Set(['', 'text', 'json']);
/** Other tiers have other prices. */
const TIER_KEYS = [
  'gen_ai.openai.response.service_tier',
  'openai.response.service_tier',
  'gen_ai.response.service_tier',
  'gen_ai.openai.request.service_tier',
  'openai.request.service_tier',
  'gen_ai.request.service_tier',
];
const USUAL_TIERS = new Set(['', 'auto', 'default', 'standard']);

/** The same count under its several names, which must agree. */
const INPUT_KEYS = [
  GEN_AI.inputTokens,
  GEN_AI.promptTokens,
  'llm.usage.prompt_tokens',
  'llm.token_count.prompt',
  'ai.usage.inputTokens',
  'ai.usage.promptTokens',
];
const OUTPUT_KEYS = [
  GEN_AI.outputTokens,
  GEN_AI.completionTokens,
  'llm.usage.completion_tokens',
  'llm.token_count.completion',
  'ai.usage.outputTokens',
  'ai.usage.completionTokens',
];
const TOTAL_KEYS = [
  'gen_ai.usage.total_tokens',
  'llm.usage.total_tokens',
  'llm.token_count.total',
  'ai.usage.totalTokens',
];
const PART_KEYS = CONVENTIONS.flatMap(({ cacheReadTokenKeys, cacheWriteTokenKeys, reasoningTokenKeys }) => [
  ...cacheReadTokenKeys,
  ...cacheWriteTokenKeys,
  ...reasoningTokenKeys,
]);
/** Told by the counts above a second time, or no count of tokens. */
const REPEATED_KEYS = [
  'ai.usage.inputTokenDetails.noCacheTokens',
  'ai.usage.outputTokenDetails.textTokens',
  'ai.usage.tokens',
  'gen_ai.usage.cost',
];
const KNOWN_COUNTS = new Set([...INPUT_KEYS, ...OUTPUT_KEYS, ...TOTAL_KEYS, ...PART_KEYS, ...REPEATED_KEYS]);
const COUNT = /^(?:gen_ai\.usage|llm\.usage|llm\.token_count|ai\.usage)\./;

/** Keys that were judged before: the same few come with every span. */
const judged = new Map<string, boolean>();
const MOST_JUDGED = 4_096;

/** Whether this counts tokens of a kind that nobody knows. */
function isUnknownCount(key: string): boolean {
  const known = judged.get(key);
  if (known !== undefined) return known;
  const unknown = COUNT.test(key) && !KNOWN_COUNTS.has(key);
  if (judged.size === MOST_JUDGED) judged.clear();
  judged.set(key, unknown);
  return unknown;
}

/**
 * What the price of a span's call depends on; null when it is no call that tokens of text pay for, or tells too little
 * or things that contradict each other: then whatever is made of it would be a guess.
 */
export function callUsageOf(span: RawSpan, head: SpanHead): CallUsage | null {
  if (head.type !== 'llm') return null;
  const { attributes } = span;
  const { inputTokens, outputTokens } = head;
  if (inputTokens === 0 || outputTokens === 0) return null;
  if (!OPERATIONS.has(textAt(attributes, GEN_AI.operationName))) return null;
  if (!OUTPUT_TYPES.has(textAt(attributes, GEN_AI.outputType).toLowerCase())) return null;
  // Who answered says at which tier; what was asked for counts only where that is not told.
  if (!USUAL_TIERS.has((firstValue(attributes, TIER_KEYS) ?? '').toLowerCase())) return null;
  const agrees = (keys: readonly string[], count: number): boolean =>
    keys.every((key) => attributes[key] === undefined || countAt(span, key) === count);
  if (!agrees(INPUT_KEYS, inputTokens) || !agrees(OUTPUT_KEYS, outputTokens)) return null;
  if (!agrees(TOTAL_KEYS, inputTokens + outputTokens)) return null;
  if (Object.keys(attributes).some((key) => isUnknownCount(key) && countAt(span, key) > 0)) return null;
  const { cacheRead, cacheWrite, reasoning } = tokenDetailsOf(attributes);
  if ((cacheRead ?? 0) + (cacheWrite ?? 0) > inputTokens || (reasoning ?? 0) > outputTokens) return null;
  const named = [firstValue(attributes, [GEN_AI.responseModel, 'ai.response.model']), head.model];
  const models = [...new Set(named.filter((name) => name !== null))];
  if (models.length === 0) return null;
  return {
    models,
    provider: head.provider,
    inputTokens,
    outputTokens,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    longCacheWriteTokens: longCacheWriteOf(attributes),
    reasoningTokens: reasoning,
  };
}

/** A count, whatever it is; NaN for what is none. */
function countAt({ attributes }: RawSpan, key: string): number {
  const text = attributeText(attributes[key] ?? null).trim();
  return text === '' ? Number.NaN : Number(text);
}
