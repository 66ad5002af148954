/** Service tiers with separate prices. */
export const PRICED_TIERS = ['flex', 'priority', 'ultrafast', 'balanced'] as const;
export type PricedTier = (typeof PRICED_TIERS)[number];

/** Token counts of one call, as the upstream reported them. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly inputTokens: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Cache writes with a lifetime of an hour, which cost more; absent where there are none. */
  readonly longCacheWriteTokens?: number;
  readonly reasoningTokens: number;
  /** Web searches that the upstream made for the answer, which it bills one by one; absent for none. */
  readonly webSearches?: number;
  /** Size of the context of these searches; absent where the upstream does not say it, for the medium one. */
  readonly searchSize?: 'low' | 'high';
  /** Searches in stored files and in maps, code interpreter containers, and tokens of citations; absent for none. */
  readonly fileSearches?: number;
  readonly mapSearches?: number;
  readonly codeSessions?: number;
  readonly citationTokens?: number;
  /** Whether the answer uses a computer; absent where it does not. */
  readonly usesComputer?: true;
  /** Service tier that the upstream reports; absent for the standard one. */
  readonly serviceTier?: PricedTier;
  /** Audio tokens among these; absent where the upstream does not report them. */
  readonly audio?: AudioTokens;
  /** Image tokens among these; absent where the upstream does not report them. */
  readonly image?: MediumTokens;
  /** Video tokens among these; absent where the upstream does not report them. */
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

/** A usage with the service tier of its answer, the member `service_tier` of OpenAI's answers. */
export function withServiceTier(usage: Usage | null, sent: unknown): Usage | null {
  const serviceTier = PRICED_TIERS.find((tier) => tier === sent);
  return usage === null || serviceTier === undefined ? usage : { ...usage, serviceTier };
}
