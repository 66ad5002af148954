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
  /** Audio tokens among these; absent where the upstream does not report them. */
  readonly audio?: AudioTokens;
  /** Image tokens among these; absent likewise. */
  readonly image?: ImageTokens;
}

/** Image tokens of a usage. */
interface ImageTokens {
  /** Of the input, cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
}

/** Audio tokens of a usage. They have prices of their own. */
export interface AudioTokens {
  /** Of the input, cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
}
