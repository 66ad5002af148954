/** Something lent until a time (milliseconds of the clock). */
export interface Lent<T> {
  readonly value: T;
  readonly until: number;
}

/** How long before its end what is lent is asked for anew, while calls go on with what there is. */
const EARLY_MS = 300_000;
/** How long before its end nobody is given it any more. */
const LATE_MS = 30_000;
/** How long a lender is left alone who said no, or had nothing that lasts longer. */
const PAUSE_MS = 5_000;

/**
 * Holds what is lent, and asks for it again before it ends: once for all who want it, and without making them wait as long
 * as the one before holds.
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
      // Who has to wait for it is told what went wrong; until then nobody has.
      borrowing?.catch(() => undefined);
      return good.value;
    }
    if (borrowing === null) throw refusal;
    return await borrowing;
  };
}
