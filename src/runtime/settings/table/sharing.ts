import { choice, flag, secret, secretText, text, integer } from '../kinds.ts';
import { setting } from '../setting.ts';
import { cacheTypeFault, redisAddressFault } from './checks.ts';

const port = (env: readonly string[], file: string, description: string) =>
  setting({ kind: integer(1, 65_535), default: 6379, env, file, description });

/** Budgets and limits that several processes count together (ADR 0062). */
export const SHARING_SETTINGS = {
  sharedLimits: setting({
    kind: choice(['auto', 'off']),
    default: 'auto',
    env: ['LENSGATE_SHARED_LIMITS'],
    file: 'general_settings.shared_limits',
    description:
      '`auto`: processes count budgets and limits together in Redis where it is configured, else in PostgreSQL. `off`: each process counts alone.',
  }),
  redisUrl: setting({
    kind: secretText('address like redis://user:password@host:6379/0', redisAddressFault),
    default: null,
    env: ['REDIS_URL'],
    file: 'router_settings.redis_url',
    description: 'Redis or Valkey server; `rediss:` uses TLS. It needs the package `ioredis`.',
  }),
  redisHost: setting({
    kind: text('host name or address'),
    default: null,
    env: ['REDIS_HOST'],
    file: 'router_settings.redis_host',
    description: 'Host of the Redis server, where `redis_url` is not set.',
  }),
  redisPort: port(['REDIS_PORT'], 'router_settings.redis_port', 'Port of the Redis server at `redis_host`.'),
  redisUsername: setting({
    kind: text('name'),
    default: null,
    env: ['REDIS_USERNAME'],
    description:
      'User at the Redis server of `redis_host` or `cache_params`. Ignored where the server is set by a URL.',
  }),
  redisPassword: setting({
    kind: secret(''),
    default: null,
    env: ['REDIS_PASSWORD'],
    file: 'router_settings.redis_password',
    description: 'Password of the Redis server. Ignored where the server is set by a URL.',
  }),
  redisSsl: setting({
    kind: flag(),
    default: false,
    env: ['REDIS_SSL'],
    file: 'litellm_settings.cache_params.ssl',
    description:
      'Uses TLS with the Redis server of `redis_host` or `cache_params`. Ignored where the server is set by a URL.',
  }),
  redisNamespace: setting({
    kind: text('name'),
    default: 'lensgate',
    env: ['REDIS_NAMESPACE'],
    file: 'litellm_settings.cache_params.namespace',
    description:
      'Prefix of all keys in Redis, also at the server of `cache_params`. Processes that count together must have the same prefix.',
  }),
  cacheType: setting({
    kind: text('`local` or `redis`', cacheTypeFault),
    default: null,
    file: 'litellm_settings.cache_params.type',
    description:
      'Place of cached answers: `local` is the memory of each process. `redis`: the server of `cache_params` also counts budgets and limits, where no other Redis server is set.',
  }),
  cacheUrl: setting({
    kind: secretText('address like redis://user:password@host:6379/0', redisAddressFault),
    default: null,
    file: 'litellm_settings.cache_params.url',
    description: 'URL of the server of `cache_params`.',
  }),
  cacheHost: setting({
    kind: text('host name or address'),
    default: null,
    file: 'litellm_settings.cache_params.host',
    description: 'Host of the server of `cache_params`, where `url` is not set.',
  }),
  cachePort: port([], 'litellm_settings.cache_params.port', 'Port of the server of `cache_params`.'),
  cacheUsername: setting({
    kind: text('name'),
    default: null,
    file: 'litellm_settings.cache_params.username',
    description: 'User at the server of `cache_params`. Without it, `REDIS_USERNAME` is used.',
  }),
  cacheDatabase: setting({
    kind: integer(0, 65_535),
    default: null,
    file: 'litellm_settings.cache_params.db',
    description: 'Number of the database at the server of `cache_params`. Ignored where the server is set by a URL.',
  }),
  cachePassword: setting({
    kind: secret(''),
    default: null,
    file: 'litellm_settings.cache_params.password',
    description: 'Password of the server of `cache_params`. Without it, `redis_password` is used.',
  }),
} as const;
