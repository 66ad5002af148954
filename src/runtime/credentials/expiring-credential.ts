/** A credential with an expiry (ms of the clock). */
export interface Lent<T> {
  readonly value: T;
  readonly until: number;
}

/** How long before its expiry a credential is refreshed in the background, in ms. */
const EARLY_MS = 300_000;
/** How long before its expiry a credential is not used any more, in ms. */
const LATE_MS = 30_000;
/** Delay after a failed refresh, or after one without a later expiry, in ms. */
const PAUSE_MS = 5_000;

/**
 * Caches a credential and refreshes it before its expiry: one request for all callers, which do not wait while the
 * current credential is valid.
 */
export function createLease<T>(borrow: () => Promise<Lent<T>>, now: () => number): () => Promise<T> {
  let held: Lent<T> | null = null;
  let borrowing: Promise<T> | null = null;
  let refusal: unknown = null;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  async function renewed(): Promise<T> {
    try {
      held = await borrow();
      refusal = null;
      return held.value;
    } catch (error) {
      refusal = error;
      throw error;
    } finally {
      pausedUntil = now() + PAUSE_MS;
      borrowing = null;
    }
  }

  return async () => {
    const left = held === null ? 0 : held.until - now();
    if (held !== null && left > EARLY_MS) return held.value;
    const good = left > LATE_MS ? held : null;
    const isPaused = now() < pausedUntil && (good !== null || refusal !== null);
    if (!isPaused) borrowing ??= renewed();
    if (good !== null) {
      // A failed background refresh is ignored while the current credential is valid.
      borrowing?.catch(() => undefined);
      return good.value;
    }
    if (borrowing === null) throw refusal;
    return await borrowing;
  };
}
