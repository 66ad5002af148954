import { attributeText, textAt } from './attribute-text.ts';
import { firstValue } from './conventions/convention.ts';
import { GEN_AI } from './conventions/gen-ai-attributes.ts';
import type { RawSpan, SpanHead } from './span.ts';
import { longCacheWriteOf, NO_TOKEN_DETAILS, TOKEN_DETAIL_KEYS, tokenDetailsOf } from './token-details.ts';

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
/** Told by the counts above a second time, or no count of tokens. */
const REPEATED_KEYS = [
  'ai.usage.inputTokenDetails.noCacheTokens',
  'ai.usage.outputTokenDetails.textTokens',
  'ai.usage.tokens',
  'gen_ai.usage.cost',
];
const COUNT = /^(?:gen_ai\.usage|llm\.usage|llm\.token_count|ai\.usage)\./;

/** What an attribute is for the price of a call, by its key: `unknown` counts tokens of a kind that nobody knows. */
type Role = 'input' | 'output' | 'total' | 'part' | 'tier' | 'unknown' | 'none';

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ...named('none', REPEATED_KEYS),
  ...named('part', TOKEN_DETAIL_KEYS),
  ...named('input', INPUT_KEYS),
  ...named('output', OUTPUT_KEYS),
  ...named('total', TOTAL_KEYS),
  ...named('tier', TIER_KEYS),
]);

function named(role: Role, keys: readonly string[]): readonly (readonly [string, Role])[] {
  return keys.map((key) => [key, role]);
}

/** Keys that were judged before: the same few come with every span. */
const judged = new Map<string, Role>();
const MOST_JUDGED = 4_096;

function roleOf(key: string): Role {
  const known = judged.get(key);
  if (known !== undefined) return known;
  const role = ROLES.get(key) ?? (COUNT.test(key) ? 'unknown' : 'none');
  if (judged.size === MOST_JUDGED) judged.clear();
  judged.set(key, role);
  return role;
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
  let tellsTier = false;
  let tellsParts = false;
  // A span has a dozen attributes and could have four dozen of those that matter: so its own are gone through.
  for (const key of Object.keys(attributes)) {
    const role = roleOf(key);
    if (role === 'none') continue;
    if (role === 'tier') tellsTier = true;
    else if (role === 'part') tellsParts = true;
    else if (role === 'input' && countAt(span, key) !== inputTokens) return null;
    else if (role === 'output' && countAt(span, key) !== outputTokens) return null;
    else if (role === 'total' && countAt(span, key) !== inputTokens + outputTokens) return null;
    else if (role === 'unknown' && countAt(span, key) > 0) return null;
  }
  // Who answered says at which tier; what was asked for counts only where that is not told.
  if (tellsTier && !USUAL_TIERS.has((firstValue(attributes, TIER_KEYS) ?? '').toLowerCase())) return null;
  const { cacheRead, cacheWrite, reasoning } = tellsParts ? tokenDetailsOf(attributes) : NO_TOKEN_DETAILS;
  if ((cacheRead ?? 0) + (cacheWrite ?? 0) > inputTokens || (reasoning ?? 0) > outputTokens) return null;
  const answered = firstValue(attributes, [GEN_AI.responseModel, 'ai.response.model']);
  const models = [...new Set([answered, head.model].filter((name) => name !== null))];
  if (models.length === 0) return null;
  return {
    models,
    provider: head.provider,
    inputTokens,
    outputTokens,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    longCacheWriteTokens: tellsParts ? longCacheWriteOf(attributes) : null,
    reasoningTokens: reasoning,
  };
}

/** A count, whatever it is; NaN for what is none. */
function countAt({ attributes }: RawSpan, key: string): number {
  const value = attributes[key] ?? null;
  if (typeof value === 'number') return value;
  const text = attributeText(value).trim();
  return text === '' ? Number.NaN : Number(text);
}
