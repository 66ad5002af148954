import type { JsonObject } from '../../domain/json-object.ts';
import { UNRESTRICTED } from '../../domain/keys/router-settings.ts';
import type { ConfiguredRouting, FallbackType } from '../../domain/fallbacks/fallback.ts';
import { type CountsByClass, FAILURE_CLASSES } from '../../domain/routing/failure-class.ts';
import type { FallbackLists, RoutingPolicy } from '../../domain/routing/routing-policy.ts';
import { type DeclaredConfig, type StoredSections, settingViewOf } from '../../domain/settings/ownership.ts';
import type { SettingsChange } from '../../domain/settings/configuration.ts';
import type { Setting, ValueOf } from './setting.ts';
import { selectionOf } from './selection.ts';
import { ROUTING_SETTINGS } from './table/routing.ts';

type RoutingSetting = keyof typeof ROUTING_SETTINGS;
type RoutingValues = { readonly [Name in RoutingSetting]: ValueOf<(typeof ROUTING_SETTINGS)[Name]> };

type Numbers = Readonly<Record<string, number>>;
type Lists = Readonly<Record<string, readonly string[]>>;

/** Counts by failure class. In the configuration, `ending` follows the name of each class. */
export function countsOf(numbers: Numbers | null | undefined, ending: 'Retries' | 'AllowedFails'): CountsByClass {
  const names = [...FAILURE_CLASSES, 'Default'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const count = numbers?.[`${name}${ending}`];
      return count === undefined ? [] : [[name, count]];
    }),
  );
}

const listsOf = (...candidates: readonly (Lists | null)[]): FallbackLists =>
  new Map(Object.entries(candidates.find((lists) => lists !== null) ?? {}));

/** Settings of the router as the gateway uses them. `ofOwners`: those of a key and its team. */
function policyOf(values: RoutingValues, ofOwners: JsonObject): RoutingPolicy {
  const { groupRetryPolicy } = values;
  return {
    retries: values.routerRetries ?? values.retries,
    retryAfterSeconds: values.retryAfterSeconds,
    retriesOf: countsOf(values.retryPolicy, 'Retries'),
    retriesOfGroup: new Map(
      Object.entries(groupRetryPolicy ?? {}).map(([model, counts]) => [model, countsOf(counts, 'Retries')]),
    ),
    cooldowns: {
      isOff: values.disableCooldowns,
      seconds: values.cooldownSeconds,
      allowedFails: values.allowedFails,
      allowedFailsOf: countsOf(values.allowedFailsPolicy, 'AllowedFails'),
    },
    fallbacks: {
      general: listsOf(values.routerFallbacks, values.fallbacks),
      contextWindow: listsOf(values.routerContextWindowFallbacks, values.contextWindowFallbacks),
      contentPolicy: listsOf(values.routerContentPolicyFallbacks, values.contentPolicyFallbacks),
      standard: values.defaultFallbacks,
      most: values.maxFallbacks,
      checksAccess: values.enforceFallbackModelAccess || FALLBACK_LISTS.some((name) => Object.hasOwn(ofOwners, name)),
    },
    selection: selectionOf(values, ofOwners),
    aliases: new Map(Object.entries(values.modelAliases)),
    timeouts: {
      seconds: values.routerTimeoutSeconds ?? values.requestTimeoutSeconds,
      streamSeconds: values.routerStreamTimeoutSeconds,
    },
  };
}

/** Rows of the table by their path in the file. No argument and no variable sets them. */
const ROWS = Object.entries<Setting>(ROUTING_SETTINGS).map(([row, { file = '', kind, default: defaultValue }]) => {
  const dot = file.indexOf('.');
  return { row: row as RoutingSetting, section: file.slice(0, dot), name: file.slice(dot + 1), kind, defaultValue };
});

/** Settings of the lists of fallbacks, by type. For each type, the first setting with a value is in force. */
const LISTS: readonly (readonly [type: FallbackType, rows: readonly RoutingSetting[]])[] = [
  ['general', ['routerFallbacks', 'fallbacks']],
  ['context_window', ['routerContextWindowFallbacks', 'contextWindowFallbacks']],
  ['content_policy', ['routerContentPolicyFallbacks', 'contentPolicyFallbacks']],
];

const ROUTER = 'router_settings';
const NONE: JsonObject = {};

/** Lists of fallbacks. Those of a key or a team have only models that the key may call. */
const FALLBACK_LISTS = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const;

/** The value of a key or a team; undefined for none, and for one of a wrong type. */
function ownValue(name: string, ofOwners: JsonObject, kind: Setting['kind']): unknown {
  const own = ofOwners[name] ?? null;
  const parsed = own === null ? {} : kind.parse(own, 'file');
  return 'value' in parsed ? parsed.value : undefined;
}

/** Check that a key or a team cannot turn off. */
const LIMIT_CHECK = 'enforce_model_rate_limits';
/**
 * Settings of the configuration only. A key could change the meaning of the tags and models of its team, or remove the
 * limit of deployments. Timeouts are read for all keys.
 */
const OF_CONFIGURATION = new Set([
  'tag_routing_prefix',
  'model_group_alias',
  'timeout',
  'stream_timeout',
  'default_max_parallel_requests',
]);

/** The value of a key or a team in place of a configured one, of which it keeps the restrictions. */
function withRestrictions(name: string, own: unknown, configured: unknown): unknown {
  if (name === 'optional_pre_call_checks' && Array.isArray(own) && Array.isArray(configured)) {
    const checks: readonly unknown[] = own;
    return configured.includes(LIMIT_CHECK) ? [...checks, LIMIT_CHECK] : checks;
  }
  return own === UNRESTRICTED[name] || OF_CONFIGURATION.has(name) ? configured : own;
}

/**
 * The routing of the file, and of stored settings that the file does not declare. `ofOwners` are the router settings of
 * a key and its team, which take precedence. A stored value of a wrong type is ignored.
 */
export function routingIn(config: DeclaredConfig, stored: StoredSections, ofOwners = NONE): ConfiguredRouting {
  const values = new Map<RoutingSetting, unknown>();
  const fromStore = new Set<RoutingSetting>();
  for (const { row, section, name, kind, defaultValue } of ROWS) {
    const { source, effectiveValue } = settingViewOf(config, stored, section, name);
    const parsed = effectiveValue === null ? {} : kind.parse(effectiveValue, 'file');
    const isSet = 'value' in parsed;
    const value = isSet ? parsed.value : defaultValue;
    const ofOwner = section === ROUTER ? ownValue(name, ofOwners, kind) : undefined;
    values.set(row, ofOwner === undefined ? value : withRestrictions(name, ofOwner, value));
    if (isSet && source === 'db' && ofOwner === undefined) fromStore.add(row);
  }
  const isStored = (rows: readonly RoutingSetting[]): boolean => {
    const inForce = rows.find((row) => values.get(row) !== null);
    return inForce !== undefined && fromStore.has(inForce);
  };
  return {
    policy: policyOf(Object.fromEntries(values) as unknown as RoutingValues, ofOwners),
    storedLists: new Set(LISTS.filter(([, rows]) => isStored(rows)).map(([type]) => type)),
  };
}

/** Whether one of the changed settings is a setting of the routing. */
export const changesRouting = (changed: SettingsChange['changed']): boolean =>
  changed.some((one) => ROWS.some(({ section, name }) => section === one.section && name === one.name));
