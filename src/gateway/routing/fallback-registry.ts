import {
  type FallbackRegistry,
  type FallbackStore,
  listsFor,
  type ModelFallback,
  withStoredFallbacks,
} from '../../domain/fallbacks/fallback.ts';
import type { RoutingPolicy } from '../../domain/routing/routing-policy.ts';

/** Keeps the stored fallbacks in memory, and reads them again after changes. Before the first read it has none. */
export function createFallbackRegistry({
  store,
  configured,
}: {
  /** Null: stored fallbacks are not used. */
  readonly store: Pick<FallbackStore, 'all' | 'fingerprint'> | null;
  /** The policy of the configuration. */
  readonly configured: () => RoutingPolicy;
}): FallbackRegistry {
  let rows: readonly ModelFallback[] = [];
  let fingerprint = '';
  let base = configured();
  let policy = base;
  let reading: Promise<unknown> = Promise.resolve();

  async function readOnce(): Promise<boolean> {
    if (store === null) return false;
    const found = await store.fingerprint();
    if (found === fingerprint) return false;
    rows = await store.all({ model: null });
    fingerprint = found;
    policy = withStoredFallbacks(base, rows);
    return true;
  }

  return {
    policy() {
      const now = configured();
      if (now !== base) {
        base = now;
        policy = withStoredFallbacks(base, rows);
      }
      return policy;
    },
    isConfigured: (model, type) => listsFor(configured().fallbacks, type).has(model),
    refresh() {
      // Reads run sequentially, so that an older result never replaces a newer one.
      const next = reading.then(readOnce, readOnce);
      reading = next;
      return next;
    },
  };
}
