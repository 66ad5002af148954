import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { Clock } from '../../domain/clock.ts';

/** How long a replaced state stays available, in ms, so that clients can page through all of it. */
const KEPT_MS = 10 * 60_000;
/** Maximum states in memory. */
const MAX_STATES = 16;
/** Maximum sum of `unsharedEntries` of the states in memory. */
const MAX_UNSHARED_ENTRIES = 8_000;

interface ReplacedState {
  readonly snapshot: CatalogSnapshot;
  readonly untilMs: number;
  /** Number of entries that the next state does not share. */
  readonly unsharedEntries: number;
}

/** Recently replaced states, for readers that page through one of them. */
export interface RecentStates {
  /** Adds a replaced state. */
  add(snapshot: CatalogSnapshot, next: CatalogSnapshot): void;
  find(id: string): CatalogSnapshot | null;
}

/** The most recently replaced state has no maximum size. Of the others, the oldest are evicted first. */
export function createRecentStates(clock: Clock): RecentStates {
  let recent: readonly ReplacedState[] = [];

  function prune(): void {
    const now = clock.monotonicMs();
    let sum = 0;
    recent = recent.filter(({ untilMs, unsharedEntries }, position) => {
      sum += unsharedEntries;
      return untilMs > now && position < MAX_STATES && (position === 0 || sum <= MAX_UNSHARED_ENTRIES);
    });
  }

  return {
    add(snapshot, next) {
      const unsharedEntries = snapshot.entries.filter((entry) => next.find(entry.id) !== entry).length;
      const untilMs = clock.monotonicMs() + KEPT_MS;
      const others = recent.filter((one) => one.snapshot.id !== snapshot.id && one.snapshot.id !== next.id);
      recent = [{ snapshot, untilMs, unsharedEntries }, ...others];
      prune();
    },
    find(id) {
      prune();
      return recent.find(({ snapshot }) => snapshot.id === id)?.snapshot ?? null;
    },
  };
}
