import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { stringify } from 'yaml';
import { addressRefusal, type AllowedAddresses, allowedList } from '../../domain/settings/allowed-addresses.ts';
import {
  type ProviderBudgets,
  readGlobalBudget,
  readProviderBudgets,
  type RouteBudget,
} from '../../domain/budgets/route-budget.ts';
import type { ConfiguredRouting } from '../../domain/fallbacks/fallback.ts';
import { throttleFractionOf } from '../../domain/keys/budget-throttle.ts';
import { type RequiredParams, requiredParamsOf } from '../../domain/keys/enforced-params.ts';
import { type CostAdjustments, costAdjustmentsOf } from '../../domain/settings/cost-adjustments.ts';
import { valuesOfGroup } from '../../domain/settings/group-values.ts';
import { isOn } from '../../domain/settings/switches.ts';
import { changedSettings } from '../../domain/settings/changed-settings.ts';
import type { Configuration, ConfigReload, SettingsChange } from '../../domain/settings/configuration.ts';
import {
  type DeclaredConfig,
  sectionsOf,
  type StoredSections,
  settingViewOf,
} from '../../domain/settings/ownership.ts';
import type { CacheSettings } from '../../domain/response-cache/cache-settings.ts';
import type { SettingsStore } from '../../domain/settings/stored-section.ts';
import { cacheSettingsIn } from '../settings/response-cache.ts';
import type { CacheServerDefaults } from '../settings/sharing.ts';
import { changesRouting, routingIn } from '../settings/routing.ts';
import { storedValueFaults } from '../settings/stored-values.ts';
import { isAmong, proxyFault } from '../network/client-network.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

/** The configuration in force in this process, and the addresses it allows. */
export interface RunningConfiguration extends Configuration {
  readonly allowedAddresses: AllowedAddresses;
  /** Discounts and margins of providers. */
  costAdjustments(): CostAdjustments;
  /** Budgets of providers. */
  providerBudgets(): ProviderBudgets;
  /** The budget of all calls; null for none. */
  globalBudget(): RouteBudget | null;
  /** Fraction of its rate limits that a key keeps when its budget is used up; null refuses its calls. */
  throttleFraction(): number | null;
  /** Whether calls of models without a price are refused. */
  blocksUnpriced(): boolean;
  /** Settings of the cache of answers; null where it is off. */
  responseCache(): CacheSettings | null;
  /** Members that requests of calls must have. */
  requiredParams(): RequiredParams;
  /** Retries, cooldowns and fallbacks of the file and of stored settings. A change replaces the object. */
  routing(): ConfiguredRouting;
  /** The same for a key with router settings of its own or of its team. */
  routingOfOwners(settings: JsonObject): ConfiguredRouting;
  /** Replaces the content of the configuration file. */
  declare(config: DeclaredConfig): void;
  /** Sets the outcome that `lastReload` returns. */
  setLastReload(outcome: ConfigReload): void;
  /**
   * After the file or the stored settings were read again, calls `listener` with the changed settings, if any. Returns
   * a function that unsubscribes.
   */
  onChange(listener: (changed: SettingsChange['changed']) => void): () => void;
}

export function createConfiguration({
  declared,
  store,
  storesModels,
  cacheServer = null,
}: {
  readonly declared: DeclaredConfig;
  /** What a cache of answers that names no server uses. */
  readonly cacheServer?: CacheServerDefaults | null;
  readonly store: SettingsStore;
  readonly storesModels: boolean;
}): RunningConfiguration {
  let config = declared;
  let stored: StoredSections = new Map();
  let values = valuesIn(config, stored, cacheServer);
  let routing = routingIn(config, stored);
  let outcome: ConfigReload | null = null;
  const listeners = new Set<(changed: SettingsChange['changed']) => void>();

  function apply(next: DeclaredConfig, sections: StoredSections): void {
    const changed = [...changedSettings(sectionsIn(config), sectionsIn(next)), ...changedSettings(stored, sections)];
    // Read again also for every new file, because a null in the file replaces a stored value.
    if (next !== config || changesRouting(changed)) routing = routingIn(next, sections);
    config = next;
    stored = sections;
    values = valuesIn(config, stored, cacheServer);
    if (changed.length > 0) for (const listener of listeners) listener(changed);
  }

  return {
    current: () => config,
    stored: () => stored,
    storesModels,
    costAdjustments: () => values.costAdjustments,
    providerBudgets: () => values.providerBudgets,
    globalBudget: () => values.globalBudget,
    throttleFraction: () => values.throttleFraction,
    responseCache: () => values.responseCache,
    requiredParams: () => values.requiredParams,
    routing: () => routing,
    routingOfOwners: (settings) => routingIn(config, stored, settings),
    blocksUnpriced: () => values.blocksUnpriced,
    lastReload: () => outcome,
    setLastReload(next) {
      outcome = next;
    },
    faultsOf: storedValueFaults,
    toYaml,
    refresh: orderedReads(
      () => store.all(),
      (rows) => apply(config, sectionsOf(rows)),
    ),
    declare(next) {
      apply(next, stored);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    allowedAddresses: {
      isAddress: (text) => proxyFault(text) === null,
      covers: isAmong,
      assertAllowed(addressOf) {
        const { allowedAddresses } = values;
        if (allowedAddresses === null) return;
        const address = addressOf();
        if (!isAmong(allowedAddresses, address)) throw addressRefusal(address);
      },
    },
  };
}

/** Values of settings that are read at each change, and not at each use. */
const valuesIn = (config: DeclaredConfig, stored: StoredSections, cacheServer: CacheServerDefaults | null) => ({
  responseCache: cacheSettingsIn(config, stored, cacheServer),
  allowedAddresses: allowedList(config, stored),
  costAdjustments: adjustmentsOf(config, stored),
  providerBudgets: budgetsOf(config, stored),
  globalBudget: globalBudgetOf(config, stored),
  throttleFraction: readThrottleFraction(config, stored),
  requiredParams: requiredParamsIn(config, stored),
  blocksUnpriced: blocksUnpriced(config, stored),
});

function adjustmentsOf(config: DeclaredConfig, stored: StoredSections): CostAdjustments {
  const valueOf = (name: string): unknown => settingViewOf(config, stored, 'litellm_settings', name).effectiveValue;
  return costAdjustmentsOf(valueOf('cost_discount_config'), valueOf('cost_margin_config'));
}

const budgetsOf = (config: DeclaredConfig, stored: StoredSections): ProviderBudgets =>
  readProviderBudgets(settingViewOf(config, stored, 'router_settings', 'provider_budget_config').effectiveValue);

function globalBudgetOf(config: DeclaredConfig, stored: StoredSections): RouteBudget | null {
  const valueOf = (name: string): unknown => settingViewOf(config, stored, 'litellm_settings', name).effectiveValue;
  return readGlobalBudget(valueOf('max_budget'), valueOf('budget_duration'));
}

const readThrottleFraction = (config: DeclaredConfig, stored: StoredSections): number | null =>
  throttleFractionOf(
    settingViewOf(config, stored, 'litellm_settings', 'budget_exceeded_throttle_percentage').effectiveValue,
  );

const requiredParamsIn = (config: DeclaredConfig, stored: StoredSections): RequiredParams =>
  requiredParamsOf((name) => settingViewOf(config, stored, 'general_settings', name).effectiveValue);

const blocksUnpriced = (config: DeclaredConfig, stored: StoredSections): boolean =>
  isOn(valuesOfGroup('blockUnpriced', config, stored)['enabled']);

/** Sections of a file that are maps. */
const sectionsIn = ({ resolved }: DeclaredConfig): StoredSections =>
  new Map(
    Object.entries(resolved).flatMap(([name, value]) => (isJsonObject(value) ? [[name, { ...value }] as const] : [])),
  );

/**
 * Characters that YAML 1.1 or 1.2 treats as a line end, or allows in escaped form only. The library writes them
 * unescaped.
 */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/;
/** Plain scalars with a special meaning in YAML 1.1: the default value and the merge key. */
const SPECIAL = /(?:^|[-:]) *(?:=|<<)(?::|$)/m;

/** YAML that readers of YAML 1.1 and of 1.2 read as the same value. */
function toYaml(value: unknown): string {
  const text = stringify(value);
  // A pair of surrogates is one valid character. Only a lone surrogate is unprintable.
  const withoutPairs = text.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, '');
  if (!UNPRINTABLE.test(withoutPairs) && !SPECIAL.test(withoutPairs)) return text;
  // Double quotes around every text, because escapes are read only there.
  const quoted = stringify(value, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE', lineWidth: 0 });
  return quoted.replaceAll(
    /[\ud800-\udbff][\udc00-\udfff]|[\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/g,
    (found) => (found.length === 2 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
