/** A credential with its expiry. */
export interface ExpiringCredential<T> {
  readonly value: T;
  /** In ms of the clock `now` of the cache. */
  readonly until: number;
}

/** How long before its expiry a credential is refreshed in the background, in ms. */
const REFRESH_BEFORE_EXPIRY_MS = 300_000;
/** How long before its expiry a credential is not used any more, in ms. */
const UNUSED_BEFORE_EXPIRY_MS = 30_000;
/** Minimum time between two requests after a failure, or while the current credential is valid, in ms. */
const PAUSE_MS = 5_000;

/**
 * Caches a credential and refreshes it before its expiry: one request for all callers, which do not wait while the
 * current credential is valid.
 */
export function createCredentialCache<T>(
  fetchCredential: () => Promise<ExpiringCredential<T>>,
  now: () => number,
): () => Promise<T> {
  let cached: ExpiringCredential<T> | null = null;
  let fetching: Promise<T> | null = null;
  let refusal: unknown = null;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<T> {
    try {
      cached = await fetchCredential();
      refusal = null;
      return cached.value;
    } catch (error) {
      refusal = error;
      throw error;
    } finally {
      pausedUntil = now() + PAUSE_MS;
      fetching = null;
    }
  }

  return async () => {
    const leftMs = cached === null ? 0 : cached.until - now();
    if (cached !== null && leftMs > REFRESH_BEFORE_EXPIRY_MS) return cached.value;
    const usable = leftMs > UNUSED_BEFORE_EXPIRY_MS ? cached : null;
    const isPaused = now() < pausedUntil && (usable !== null || refusal !== null);
    if (!isPaused) fetching ??= refresh();
    if (usable !== null) {
      // A failed background refresh is ignored while the current credential is valid.
      fetching?.catch(() => undefined);
      return usable.value;
    }
    if (fetching === null) throw refusal;
    return await fetching;
  };
}
