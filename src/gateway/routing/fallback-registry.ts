import type { JsonObject } from '../../domain/json-object.ts';
import { routerSettingsOf } from '../../domain/keys/router-settings.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { RoutingPolicy } from '../../domain/routing/routing-policy.ts';
import {
  type ConfiguredRouting,
  type FallbackRegistry,
  type FallbackStore,
  listsFor,
  type ModelFallback,
  withStoredFallbacks,
} from '../../domain/fallbacks/fallback.ts';

/** Whether a key or its team has router settings, which may be empty. */
const mayHaveSettings = ({ settings, owners }: VirtualKey): boolean =>
  settings.routerSettings !== undefined || owners?.team?.routerSettings !== undefined;

/** Keeps the stored fallbacks in memory, and reads them again after changes. Before the first read it has none. */
export function createFallbackRegistry({
  store,
  configured,
  ofOwners,
}: {
  /** Null: stored fallbacks are not used. */
  readonly store: Pick<FallbackStore, 'all' | 'fingerprint'> | null;
  /** The routing of the file and of stored settings. */
  readonly configured: () => ConfiguredRouting;
  /** The same, with the router settings of a key and its team. Absent: these have no effect. */
  readonly ofOwners?: (settings: JsonObject) => ConfiguredRouting;
}): FallbackRegistry {
  let rows: readonly ModelFallback[] = [];
  let fingerprint = '';
  let base = configured();
  let policy = base.policy;
  let reading: Promise<unknown> = Promise.resolve();
  /** Policies of keys with router settings, until the policy of all keys changes. */
  let policiesOfKeys = new WeakMap<VirtualKey, RoutingPolicy>();

  function policyOfAll(): RoutingPolicy {
    const latest = configured();
    if (latest !== base) setPolicy(latest);
    return policy;
  }

  function setPolicy(latest: ConfiguredRouting): void {
    base = latest;
    policy = withStoredFallbacks(base, rows);
    policiesOfKeys = new WeakMap();
  }

  function policyOfKey(key: VirtualKey): RoutingPolicy {
    // Discards the policies of keys after a change.
    const ofAll = policyOfAll();
    const known = policiesOfKeys.get(key);
    if (known !== undefined) return known;
    const settings = routerSettingsOf(key);
    const own = settings === null || ofOwners === undefined ? ofAll : withStoredFallbacks(ofOwners(settings), rows);
    policiesOfKeys.set(key, own);
    return own;
  }

  async function readOnce(): Promise<boolean> {
    if (store === null) return false;
    const latest = await store.fingerprint();
    if (latest === fingerprint) return false;
    rows = await store.all({ model: null });
    fingerprint = latest;
    setPolicy(base);
    return true;
  }

  return {
    policy(key) {
      return key === undefined || key === null || !mayHaveSettings(key) ? policyOfAll() : policyOfKey(key);
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
