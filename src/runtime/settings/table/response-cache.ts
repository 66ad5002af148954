import {
  CACHE_MODES,
  CACHE_SCOPES,
  CACHEABLE_CALL_TYPES,
  callTypeFault,
  DEFAULT_MAX_MESSAGES,
  MAX_TTL_SECONDS,
} from '../../../domain/response-cache/cache-settings.ts';
import { choice, decimal, flag, integer, type Kind, list } from '../kinds.ts';
import { setting } from '../setting.ts';

const SECTION = 'litellm_settings.cache_params';

const ttl = (name: string, description: string) =>
  setting({
    kind: decimal({ above: 0, to: MAX_TTL_SECONDS }),
    default: null,
    file: `${SECTION}.${name}`,
    unit: 'seconds',
    description,
  });

/** True or false. An empty text, map or list counts as not set. */
function optionalFlag(): Kind<boolean> {
  const { form, isSecret, parse } = flag();
  const isEmpty = (raw: unknown): boolean =>
    raw === '' || (typeof raw === 'object' && raw !== null && Object.keys(raw).length === 0);
  return {
    form,
    isSecret,
    parse: (raw, from) => (isEmpty(raw) ? { unset: true } : parse(raw, from)),
  };
}

/** Settings of the cache of answers. Those of its server are in `sharing.ts`. */
export const RESPONSE_CACHE_SETTINGS = {
  cache: setting({
    kind: optionalFlag(),
    default: null,
    defaultText: 'false',
    file: 'litellm_settings.cache',
    description:
      'Whether answers of model calls are cached. Without this setting, the cache is on when `/cache/settings` stores a server.',
  }),
  cacheMode: setting({
    kind: choice(CACHE_MODES),
    default: 'default_on',
    file: `${SECTION}.mode`,
    description: '`default_off`: only requests with `cache: {"use-cache": true}` use the cache.',
  }),
  cacheCallTypes: setting({
    kind: list('call types', callTypeFault),
    default: [...CACHEABLE_CALL_TYPES],
    file: `${SECTION}.supported_call_types`,
    description: 'Call types whose answers are cached. Transcriptions and reranking are accepted, but not cached.',
  }),
  cacheTtl: ttl('ttl', 'How long an answer is stored. A request can set another time.'),
  cacheMemoryTtl: ttl(
    'default_in_memory_ttl',
    'As `ttl`, for the type `local` only. Without this setting and `ttl`: 600 seconds.',
  ),
  cacheRedisTtl: ttl(
    'default_in_redis_ttl',
    'As `ttl`, for the type `redis` only. Without this setting and `ttl`: 60 seconds.',
  ),
  cacheMaxMessages: setting({
    kind: integer(1, 1_000_000),
    default: DEFAULT_MAX_MESSAGES,
    file: `${SECTION}.max_messages`,
    description: 'Calls with more messages do not use the cache. Null removes the limit.',
  }),
  cacheScope: setting({
    kind: choice(CACHE_SCOPES),
    default: 'team',
    file: `${SECTION}.scope`,
    description:
      'Callers that share answers. `team`: the keys of a team; a key without a team shares with the keys of its user, and a key without both with none. `key`: no other key. `all`: all callers.',
  }),
} as const;
