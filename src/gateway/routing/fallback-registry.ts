import {
  type ConfiguredRouting,
  type FallbackRegistry,
  type FallbackStore,
  listsFor,
  type ModelFallback,
  withStoredFallbacks,
} from '../../domain/fallbacks/fallback.ts';

/** Keeps the stored fallbacks in memory, and reads them again after changes. Before the first read it has none. */
export function createFallbackRegistry({
  store,
  configured,
}: {
  /** Null: stored fallbacks are not used. */
  readonly store: Pick<FallbackStore, 'all' | 'fingerprint'> | null;
  /** The routing of the file and of stored settings. */
  readonly configured: () => ConfiguredRouting;
}): FallbackRegistry {
  let rows: readonly ModelFallback[] = [];
  let fingerprint = '';
  let base = configured();
  let policy = base.policy;
  let reading: Promise<unknown> = Promise.resolve();

  async function readOnce(): Promise<boolean> {
    if (store === null) return false;
    const latest = await store.fingerprint();
    if (latest === fingerprint) return false;
    rows = await store.all({ model: null });
    fingerprint = latest;
    policy = withStoredFallbacks(base, rows);
    return true;
  }

  return {
    policy() {
      const latest = configured();
      if (latest !== base) {
        base = latest;
        policy = withStoredFallbacks(base, rows);
      }
      return policy;
    },
    isConfigured(model, type) {
      const { storedLists, policy: configuredPolicy } = configured();
      return !storedLists.has(type) && listsFor(configuredPolicy.fallbacks, type).has(model);
    },
    refresh() {
      // Reads run sequentially, so that an older result never replaces a newer one.
      const next = reading.then(readOnce, readOnce);
      reading = next;
      return next;
    },
  };
}
