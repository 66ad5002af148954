import { attributeText, textAt } from './attribute-text.ts';
import { firstValue } from './conventions/convention.ts';
import { GEN_AI } from './conventions/gen-ai-attributes.ts';
import type { RawSpan, SpanHead, SpanType } from './span.ts';
import { longCacheWriteOf, NO_TOKEN_DETAILS, TOKEN_DETAIL_KEYS, tokenDetailsOf } from './token-details.ts';

/** Model and provider of a call, from its span. */
export interface CallNames {
  /** Names of its model, the most exact first; at least one. */
  readonly models: readonly string[];
  /** The provider, see `providerLabel`. */
  readonly provider: string | null;
}

/** Token counts of a call, from its span. Unknown counts are null, never 0. */
export interface CallTokens {
  /** Total, parts included; above 0. */
  readonly inputTokens: number;
  /** Total, parts included; may be 0 for embeddings and failed calls. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  /** Part of the cache writes with a lifetime of an hour. */
  readonly longCacheWriteTokens: number | null;
  readonly reasoningTokens: number | null;
}

/** The members of a call that its price depends on. */
export interface CallUsage extends CallNames, CallTokens {}

/** Operations billed by text tokens only, by type of span. The empty text stands for a span without an operation. */
const OPERATIONS: Partial<Record<SpanType, ReadonlySet<string>>> = {
  llm: new Set(['', 'chat', 'completion', 'text_completion', 'generate_content', 'decide']),
  embedding: new Set(['', 'embeddings', 'embedding']),
};
const OUTPUT_TYPES = new Set(['', 'text', 'json']);
/** Keys of the service tier. Tiers other than the standard ones have other prices. */
const TIER_KEYS = [
  'gen_ai.openai.response.service_tier',
  'openai.response.service_tier',
  'gen_ai.response.service_tier',
  'gen_ai.openai.request.service_tier',
  'openai.request.service_tier',
  'gen_ai.request.service_tier',
];
const STANDARD_TIERS = new Set(['', 'auto', 'default', 'standard']);

/** Keys of one count. A span with several of them must have the same value under each. */
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
/** Repetitions of the counts above, and keys that are not token counts. */
const REPEATED_KEYS = [
  'ai.usage.inputTokenDetails.noCacheTokens',
  'ai.usage.outputTokenDetails.textTokens',
  'ai.usage.tokens',
  'gen_ai.usage.cost',
];
const COUNT_KEY = /^(?:gen_ai\.usage|llm\.usage|llm\.token_count|ai\.usage)\./;

/** Role of an attribute for the price, by its key. `unknown`: a token count of an unknown kind. */
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

/** Bounded cache of roles by key: the same few keys come with every span. */
const cachedRoles = new Map<string, Role>();
const MAX_CACHED_ROLES = 4_096;

function roleOf(key: string): Role {
  const known = cachedRoles.get(key);
  if (known !== undefined) return known;
  const role = ROLES.get(key) ?? (COUNT_KEY.test(key) ? 'unknown' : 'none');
  if (cachedRoles.size === MAX_CACHED_ROLES) cachedRoles.clear();
  cachedRoles.set(key, role);
  return role;
}

/**
 * The usage of a span's call. Null when the call is not billed by text tokens alone, or has a tier with other prices.
 * Also null when it names no model, or its counts are incomplete or wrong.
 */
export function callUsageOf(span: RawSpan, head: SpanHead): CallUsage | null {
  const operations = OPERATIONS[head.type];
  if (operations === undefined) return null;
  const { attributes } = span;
  const { inputTokens, outputTokens } = head;
  // An embedding has no output tokens, a failed call may have none.
  if (inputTokens === 0 || (outputTokens === 0 && head.type === 'llm' && head.status !== 'error')) return null;
  if (!operations.has(textAt(attributes, GEN_AI.operationName))) return null;
  if (!OUTPUT_TYPES.has(textAt(attributes, GEN_AI.outputType).toLowerCase())) return null;
  let hasTier = false;
  let hasParts = false;
  // A loop over the attributes of the span, which are usually fewer than the known keys.
  for (const key of Object.keys(attributes)) {
    const role = roleOf(key);
    if (role === 'none') continue;
    if (role === 'tier') hasTier = true;
    else if (role === 'part') hasParts = true;
    else if (role === 'input' && countAt(span, key) !== inputTokens) return null;
    else if (role === 'output' && countAt(span, key) !== outputTokens) return null;
    else if (role === 'total' && countAt(span, key) !== inputTokens + outputTokens) return null;
    else if (role === 'unknown' && countAt(span, key) > 0) return null;
  }
  // The tier of the response, or of the request when the response states none.
  if (hasTier && !STANDARD_TIERS.has((firstValue(attributes, TIER_KEYS) ?? '').toLowerCase())) return null;
  const { cacheRead, cacheWrite, reasoning } = hasParts ? tokenDetailsOf(attributes) : NO_TOKEN_DETAILS;
  if ((cacheRead ?? 0) + (cacheWrite ?? 0) > inputTokens || (reasoning ?? 0) > outputTokens) return null;
  const responseModel = firstValue(attributes, [GEN_AI.responseModel, 'ai.response.model']);
  const models = [...new Set([responseModel, head.model].filter((name) => name !== null))];
  if (models.length === 0) return null;
  return {
    models,
    provider: head.provider,
    inputTokens,
    outputTokens,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    longCacheWriteTokens: hasParts ? longCacheWriteOf(attributes) : null,
    reasoningTokens: reasoning,
  };
}

/** A count as a number; NaN for anything else. */
function countAt({ attributes }: RawSpan, key: string): number {
  const value = attributes[key] ?? null;
  if (typeof value === 'number') return value;
  const text = attributeText(value).trim();
  return text === '' ? Number.NaN : Number(text);
}
