/** Service tiers with separate prices. */
export const PRICED_TIERS = ['flex', 'priority', 'ultrafast', 'balanced'] as const;
export type PricedTier = (typeof PRICED_TIERS)[number];

/** Token counts of one call, reported by the upstream or estimated. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly inputTokens: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Cache writes with a lifetime of at least an hour, which cost more; absent where there are none. */
  readonly longCacheWriteTokens?: number;
  readonly reasoningTokens: number;
  /** Web searches that the upstream made for the answer, which it bills one by one; absent for none. */
  readonly webSearches?: number;
  /** Context size of the web searches; absent for the medium size, also when the upstream reports no size. */
  readonly searchSize?: 'low' | 'high';
  /** Searches in stored files and in maps, code interpreter containers, and tokens of citations; absent for none. */
  readonly fileSearches?: number;
  readonly mapSearches?: number;
  readonly codeSessions?: number;
  readonly citationTokens?: number;
  /** The answer has calls of the computer-use tool; absent for none. */
  readonly usesComputer?: true;
  /** Service tier that the upstream reports; absent for the standard one. */
  readonly serviceTier?: PricedTier;
  /** Audio tokens, included in the counts above; absent where the upstream does not report them. */
  readonly audio?: AudioTokens;
  /** Image tokens, included in the counts above; absent where the upstream does not report them. */
  readonly image?: MediumTokens;
  /** Video tokens, included in the counts above; absent where the upstream does not report them. */
  readonly video?: MediumTokens;
}

export type AudioTokens = MediumTokens;

/** Tokens of one medium within a usage. They have separate prices. */
interface MediumTokens {
  /** Input tokens of the medium, cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
}

/**
 * The usage with the service tier of an OpenAI answer (`service_tier`); unchanged unless the tier has its own prices.
 */
export function withServiceTier(usage: Usage | null, sent: unknown): Usage | null {
  const serviceTier = PRICED_TIERS.find((tier) => tier === sent);
  return usage === null || serviceTier === undefined ? usage : { ...usage, serviceTier };
}
