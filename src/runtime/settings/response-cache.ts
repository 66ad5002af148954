import {
  CACHE_TYPES,
  type CacheServer,
  type CacheSettings,
  type CacheType,
  callTypesOf,
  DEFAULT_TTL_SECONDS,
} from '../../domain/response-cache/cache-settings.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import { Secret } from '../../domain/secret.ts';
import { valuesOfGroup } from '../../domain/settings/group-values.ts';
import {
  type DeclaredConfig,
  isDeclared,
  type StoredSections,
  settingViewOf,
} from '../../domain/settings/ownership.ts';
import type { SectionContent } from '../../domain/settings/stored-section.ts';
import type { Setting, ValueOf } from './setting.ts';
import { addressOf, type CacheServerDefaults } from './sharing.ts';
import { RESPONSE_CACHE_SETTINGS } from './table/response-cache.ts';

type Rows = typeof RESPONSE_CACHE_SETTINGS;
type CacheValues = { readonly [Name in keyof Rows]: ValueOf<Rows[Name]> };

const PARAMS = 'cache_params';
const DEFAULT_PORT = 6_379;
const MAX_PORT = 65_535;
const MAX_DATABASE = 65_535;

/**
 * Settings of the cache of answers, from the file and from stored settings; null while the cache is off. Without the
 * setting `cache`, the cache is on when a server is stored. A stored value of a wrong type is ignored.
 */
export function cacheSettingsIn(
  config: DeclaredConfig,
  stored: StoredSections,
  defaults: CacheServerDefaults | null,
): CacheSettings | null {
  const effective = (name: string): unknown => settingViewOf(config, stored, 'litellm_settings', name).effectiveValue;
  const cacheParams = effective(PARAMS);
  const cacheGroup = valuesOfGroup('cache', config, stored);
  // Stored settings never complete those of the file. Otherwise a password of the file could be sent to a stored host.
  const params: SectionContent = isJsonObject(cacheParams) ? cacheParams : cacheGroup;
  const values = valuesOf((name) => (name === PARAMS ? params : effective(name)));
  const isOfFile = isDeclared(config, 'litellm_settings', PARAMS);
  const namedServer = serverOf(params, isOfFile ? defaults : withoutLogin(defaults));
  const hasStoredServer = !isJsonObject(cacheParams) && ('host' in cacheGroup || 'url' in cacheGroup);
  const isOn = values.cache ?? hasStoredServer;
  if (!isOn) return null;
  const type = typeOf(params, namedServer !== null);
  return {
    type,
    mode: values.cacheMode,
    scope: values.cacheScope,
    namespace: textOf(params['namespace']),
    ttlSeconds: ttlOf(type, values, params),
    callTypes: callTypesOf(values.cacheCallTypes),
    maxMessages: params['max_messages'] === null ? null : values.cacheMaxMessages,
    server: type === 'redis' ? (namedServer ?? defaults?.server ?? null) : null,
  };
}

/**
 * Values of the rows of the table, with their defaults. `valueOf` returns the value of a setting of `litellm_settings`.
 * A row is such a setting, or a member of one (`litellm_settings.cache_params.ttl`).
 */
function valuesOf(valueOf: (name: string) => unknown): CacheValues {
  const rows = Object.entries<Setting>(RESPONSE_CACHE_SETTINGS);
  const values = rows.map(([row, { file = '', kind, default: defaultValue }]) => {
    const [, name = '', member] = file.split('.');
    const setting = valueOf(name);
    const value = member === undefined ? setting : memberOf(setting, member);
    if (value === undefined || value === null) return [row, defaultValue] as const;
    const parsed = kind.parse(value, 'file');
    return [row, 'value' in parsed ? parsed.value : defaultValue] as const;
  });
  return Object.fromEntries(values) as unknown as CacheValues;
}

const memberOf = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);

/** The configured type. Without one: `redis` when a server is named, else `local`. */
function typeOf({ type }: SectionContent, hasServer: boolean): CacheType {
  return CACHE_TYPES.find((one) => one === type) ?? (hasServer ? 'redis' : 'local');
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Seconds for which an answer is stored: `ttl`, else that of the type, else the default. */
function ttlOf(type: CacheType, values: CacheValues, { ttl }: SectionContent): number {
  const ofType = type === 'local' ? values.cacheMemoryTtl : values.cacheRedisTtl;
  const general = values.cacheTtl ?? (typeof ttl === 'number' && ttl > 0 ? ttl : null);
  return general ?? ofType ?? DEFAULT_TTL_SECONDS[type];
}

/** Defaults without user and password, which must not be sent to a server that stored settings or a request name. */
export const withoutLogin = (defaults: CacheServerDefaults | null): CacheServerDefaults | null =>
  defaults && { ...defaults, username: null, password: null };

/** The server that cache settings name. Null when they name none, and for a cluster, which is not supported. */
export function serverOf(params: SectionContent, defaults: CacheServerDefaults | null): CacheServer | null {
  if ((params['redis_type'] ?? 'node') !== 'node') return null;
  const password = textOf(params['password']);
  const address = addressOf(
    {
      url: textOf(params['url']),
      host: textOf(params['host']),
      port: wholeNumber(params['port'], MAX_PORT) ?? DEFAULT_PORT,
      username: textOf(params['username']) ?? defaults?.username ?? null,
      password: password === null ? (defaults?.password ?? null) : new Secret(password),
      database: wholeNumber(params['db'], MAX_DATABASE),
    },
    typeof params['ssl'] === 'boolean' ? params['ssl'] : (defaults?.isSecure ?? false),
  );
  if (address === null) return null;
  return { url: new Secret(address), prefix: textOf(params['namespace']) ?? defaults?.prefix ?? 'lensgate' };
}

/** A whole number from 0 to `max`, also as text; null for other values. */
function wholeNumber(value: unknown, max: number): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= max ? number : null;
}
