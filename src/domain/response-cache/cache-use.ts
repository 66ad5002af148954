/** How one call uses the cache, from its request. */
export interface CacheControls {
  /** Whether the call uses the cache; null: as `CacheSettings.mode` says. */
  readonly use: boolean | null;
  /** The answer is not read from the cache. */
  readonly noCache: boolean;
  /** The answer is not stored. */
  readonly noStore: boolean;
  /** Lifetime of the stored answer, in seconds; null: `CacheSettings.ttlSeconds`. */
  readonly ttlSeconds: number | null;
  /** Maximum age of a cached answer, in seconds; null for any. */
  readonly maxAgeSeconds: number | null;
  /** Null: `CacheSettings.namespace`. */
  readonly namespace: string | null;
  /** Names of all controls in the request, including unknown ones. */
  readonly names: readonly string[];
}
