/** How one call uses the cache. */
export interface CacheControls {
  /** True uses the cache, false does not; null leaves it to the mode of the cache. */
  readonly use: boolean | null;
  /** The answer is not read from the cache. */
  readonly noCache: boolean;
  /** The answer is not stored. */
  readonly noStore: boolean;
  /** Seconds for which the answer is stored; null for those of the settings. */
  readonly ttlSeconds: number | null;
  /** Maximum age of a cached answer, in seconds; null for any. */
  readonly maxAgeSeconds: number | null;
  readonly namespace: string | null;
  /** Names of the controls, as sent. */
  readonly names: readonly string[];
}
