import type { CacheServer } from '../../domain/response-cache/cache-settings.ts';
import { Secret } from '../../domain/secret.ts';
import type { SettingValues } from './table.ts';

/** Settings of shared budgets and limits. */
export interface SharingSettings {
  /** False: each process counts alone. */
  readonly isOn: boolean;
  /** The Redis server that counts; null for none. */
  readonly redis: { readonly url: Secret; readonly namespace: string } | null;
}

/** A Redis server by its address or its parts. */
interface Server {
  readonly url: string | null;
  readonly host: string | null;
  readonly port: number;
  readonly username: string | null;
  readonly password: Secret | null;
  /** Number of its database; absent for the first. */
  readonly database?: number | null;
}

/** What the process knows about Redis, for a cache of answers that lacks it. */
export interface CacheServerDefaults extends Pick<Server, 'username' | 'password'> {
  readonly server: CacheServer | null;
  readonly isSecure: boolean;
  readonly prefix: string;
}

export function cacheServerDefaultsOf(values: SettingValues): CacheServerDefaults {
  const { redisUsername: username, redisPassword: password, redisSsl: isSecure, redisNamespace: prefix } = values;
  const url = serverUrlOf(values);
  return { server: url === null ? null : { url: new Secret(url), prefix }, username, password, isSecure, prefix };
}

/** Shared budgets and limits, with the Redis server of the Redis settings, else of the cache settings. */
export function sharingOf(values: SettingValues): SharingSettings {
  const url = serverUrlOf(values);
  const isOn = values.sharedLimits === 'auto';
  return { isOn, redis: isOn && url !== null ? { url: new Secret(url), namespace: values.redisNamespace } : null };
}

/** Address of the server of the Redis settings, else of the cache settings; null for none. */
function serverUrlOf(values: SettingValues): string | null {
  const { redisUsername: username, redisPassword: password, redisSsl: isSecure } = values;
  const redisServer: Server = {
    url: values.redisUrl,
    host: values.redisHost,
    port: values.redisPort,
    username,
    password,
  };
  const cacheServer: Server = {
    url: values.cacheUrl,
    host: values.cacheHost,
    port: values.cachePort,
    username: values.cacheUsername ?? username,
    database: values.cacheDatabase,
    password: values.cachePassword ?? password,
  };
  const cacheUrl = values.cacheType === 'redis' ? addressOf(cacheServer, isSecure) : null;
  return addressOf(redisServer, isSecure) ?? cacheUrl;
}

/** Address of a server; null where neither URL nor host is set. */
export function addressOf(
  { url, host, port, username, password, database = null }: Server,
  isSecure: boolean,
): string | null {
  if (url !== null) return url;
  if (host === null) return null;
  const user = encodeURIComponent(username ?? '');
  const secret = password === null ? '' : `:${encodeURIComponent(password.reveal())}`;
  const login = user + secret === '' ? '' : `${user}${secret}@`;
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const path = database === null ? '' : `/${database}`;
  return `${isSecure ? 'rediss' : 'redis'}://${login}${name}:${port}${path}`;
}
