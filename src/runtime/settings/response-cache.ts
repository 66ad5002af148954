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
import { type DeclaredConfig, type StoredSections, settingViewOf } from '../../domain/settings/ownership.ts';
import type { SectionContent } from '../../domain/settings/stored-section.ts';
import type { Setting, ValueOf } from './setting.ts';
import { addressOf } from './sharing.ts';
import { RESPONSE_CACHE_SETTINGS } from './table/response-cache.ts';

type Rows = typeof RESPONSE_CACHE_SETTINGS;
type CacheValues = { readonly [Name in keyof Rows]: ValueOf<Rows[Name]> };

const PARAMS = 'cache_params';

/** The server of the process, for a cache without its own. */
export type DefaultCacheServer = CacheServer | null;

/**
 * Settings of the cache of answers, from the file and from stored settings; null where it is off. A stored value of a
 * wrong type is ignored.
 */
export function cacheSettingsIn(
  config: DeclaredConfig,
  stored: StoredSections,
  defaultServer: DefaultCacheServer,
): CacheSettings | null {
  const effective = (name: string): unknown => settingViewOf(config, stored, 'litellm_settings', name).effectiveValue;
  const sent = effective(PARAMS);
  const group = valuesOfGroup('cache', config, stored);
  const params: SectionContent = { ...group, ...(isJsonObject(sent) ? sent : {}) };
  const values = valuesOf((row) => (row === PARAMS ? params : effective(row)));
  const own = serverOf(params, defaultServer);
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
    server: type === 'redis' ? (own ?? defaultServer) : null,
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

/** The server that cache settings name; null for none. */
export function serverOf(params: SectionContent, defaultServer: DefaultCacheServer): CacheServer | null {
  const port = Number(params['port'] ?? 6379);
  const password = textOf(params['password']);
  const address = addressOf(
    {
      url: textOf(params['url']),
      host: textOf(params['host']),
      port: Number.isInteger(port) && port > 0 && port < 65_536 ? port : 6379,
      username: textOf(params['username']),
      password: password === null ? null : new Secret(password),
    },
    params['ssl'] === true,
  );
  if (address === null) return null;
  const db = params['db'];
  const isDatabase = typeof db === 'number' && Number.isInteger(db) && db >= 0 && textOf(params['url']) === null;
  return {
    url: new Secret(isDatabase ? `${address}/${db}` : address),
    prefix: textOf(params['namespace']) ?? defaultServer?.prefix ?? 'lensgate',
  };
}
