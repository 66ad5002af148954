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

/**
 * Settings of the cache of answers, from the file and from stored settings; null where it is off. A stored value of a
 * wrong type is ignored.
 */
export function cacheSettingsIn(
  config: DeclaredConfig,
  stored: StoredSections,
  defaults: CacheServerDefaults | null,
): CacheSettings | null {
  const effective = (name: string): unknown => settingViewOf(config, stored, 'litellm_settings', name).effectiveValue;
  const sent = effective(PARAMS);
  const group = valuesOfGroup('cache', config, stored);
  // Stored settings never complete those of the file, so that its password is not sent to a stored host.
  const params: SectionContent = isJsonObject(sent) ? sent : group;
  const values = valuesOf((row) => (row === PARAMS ? params : effective(row)));
  const isOfFile = isDeclared(config, 'litellm_settings', PARAMS);
  const own = serverOf(params, isOfFile ? defaults : withoutLogin(defaults));
  const isStored = !isJsonObject(sent) && ('host' in group || 'url' in group);
  if (!(values.cache ?? isStored)) return null;
  const type = typeOf(params, own !== null);
  return {
    type,
    mode: values.cacheMode,
    scope: values.cacheScope,
    namespace: textOf(params['namespace']),
    ttlSeconds: ttlOf(type, values, params),
    callTypes: callTypesOf(values.cacheCallTypes),
    maxMessages: params['max_messages'] === null ? null : values.cacheMaxMessages,
    server: type === 'redis' ? (own ?? defaults?.server ?? null) : null,
  };
}

/** Values of the rows, by their place in the section `litellm_settings`. */
function valuesOf(valueOf: (name: string) => unknown): CacheValues {
  return Object.fromEntries(
    Object.entries<Setting>(RESPONSE_CACHE_SETTINGS).map(([row, { file = '', kind, default: otherwise }]) => {
      const [, name = '', below] = file.split('.');
      const container = valueOf(name);
      const value = below === undefined ? container : isJsonObject(container) ? container[below] : undefined;
      if (value === undefined || value === null) return [row, otherwise];
      const parsed = kind.parse(value, 'file');
      return [row, 'value' in parsed ? parsed.value : otherwise];
    }),
  ) as unknown as CacheValues;
}

/** A cache without a type is in Redis where a server is set. */
function typeOf({ type }: SectionContent, hasServer: boolean): CacheType {
  return CACHE_TYPES.find((one) => one === type) ?? (hasServer ? 'redis' : 'local');
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function ttlOf(type: CacheType, values: CacheValues, { ttl }: SectionContent): number {
  const ofType = type === 'local' ? values.cacheMemoryTtl : values.cacheRedisTtl;
  const general = values.cacheTtl ?? (typeof ttl === 'number' && ttl > 0 ? ttl : null);
  return general ?? ofType ?? DEFAULT_TTL_SECONDS[type];
}

/** The same without user and password, for a server that a request names: it must not get them. */
export const withoutLogin = (defaults: CacheServerDefaults | null): CacheServerDefaults | null =>
  defaults && { ...defaults, username: null, password: null };

/** The server that cache settings name; null for none, and for a cluster. */
export function serverOf(params: SectionContent, defaults: CacheServerDefaults | null): CacheServer | null {
  if ((params['redis_type'] ?? 'node') !== 'node') return null;
  const password = textOf(params['password']);
  const address = addressOf(
    {
      url: textOf(params['url']),
      host: textOf(params['host']),
      port: wholeNumber(params['port'], 65_535) ?? 6379,
      username: textOf(params['username']) ?? defaults?.username ?? null,
      password: password === null ? (defaults?.password ?? null) : new Secret(password),
      database: wholeNumber(params['db'], 65_535),
    },
    typeof params['ssl'] === 'boolean' ? params['ssl'] : (defaults?.isSecure ?? false),
  );
  if (address === null) return null;
  return { url: new Secret(address), prefix: textOf(params['namespace']) ?? defaults?.prefix ?? 'lensgate' };
}

/** A whole number from 0, also as text; null for other values. */
function wholeNumber(value: unknown, most: number): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= most ? number : null;
}
