import type { Secret } from '../secret.ts';

/** Where answers are stored: in the memory of each process, or in Redis. */
export const CACHE_TYPES = ['local', 'redis'] as const;
export type CacheType = (typeof CACHE_TYPES)[number];

/** Whether a call uses the cache when its request does not decide this. */
export const CACHE_MODES = ['default_on', 'default_off'] as const;
type CacheMode = (typeof CACHE_MODES)[number];

/** The callers that share a cached answer: all callers of a team, of a key, or of the gateway. */
export const CACHE_SCOPES = ['team', 'key', 'all'] as const;
export type CacheScope = (typeof CACHE_SCOPES)[number];

/** Call types whose answers can be cached. */
export const CACHEABLE_CALL_TYPES = [
  'acompletion',
  'atext_completion',
  'aembedding',
  'aresponses',
  'anthropic_messages',
] as const;

/**
 * Accepted values of `supported_call_types`, each with its call type in spend rows. The reference uses the
 * names without `a` for synchronous calls. Here they mean the same call types as the names with `a`.
 */
const CALL_TYPE_NAMES: Readonly<Record<string, string>> = {
  completion: 'acompletion',
  text_completion: 'atext_completion',
  embedding: 'aembedding',
  responses: 'aresponses',
  transcription: 'atranscription',
  rerank: 'arerank',
  ...Object.fromEntries(CACHEABLE_CALL_TYPES.map((name) => [name, name])),
  // Accepted, because the reference has them. Answers of these calls are not cached.
  atranscription: 'atranscription',
  arerank: 'arerank',
};

/** Message for an unknown name in `supported_call_types`; null for a known name. */
export const callTypeFault = (name: string): string | null =>
  Object.hasOwn(CALL_TYPE_NAMES, name) ? null : `"${name}" is not one of ${Object.keys(CALL_TYPE_NAMES).join(', ')}`;

/** The call types in spend rows for these values of `supported_call_types`. An unknown name is its own call type. */
export const callTypesOf = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.map((name) => CALL_TYPE_NAMES[name] ?? name));

/** Default lifetime of a stored answer, in seconds, as in the reference. */
export const DEFAULT_TTL_SECONDS: Readonly<Record<CacheType, number>> = { local: 600, redis: 60 };
/** Maximum lifetime of a stored answer, in seconds: one year. */
export const MAX_TTL_SECONDS = 365 * 24 * 60 * 60;
/** Default of `maxMessages`, as in the reference. */
export const DEFAULT_MAX_MESSAGES = 4;

/** The Redis server of the cache. */
export interface CacheServer {
  readonly url: Secret;
  /** Prefix of every Redis key. */
  readonly prefix: string;
}

/** Settings of the cache of answers. */
export interface CacheSettings {
  readonly type: CacheType;
  readonly mode: CacheMode;
  readonly scope: CacheScope;
  /** Namespace for requests without one. Null: no namespace. */
  readonly namespace: string | null;
  /** Lifetime of a stored answer, for requests that set none. */
  readonly ttlSeconds: number;
  /** Call types that use the cache, by their names in spend rows. */
  readonly callTypes: ReadonlySet<string>;
  /** A call with more messages does not use the cache; null for no limit. */
  readonly maxMessages: number | null;
  /** Null for the type `local`, and where no server is configured. */
  readonly server: CacheServer | null;
}
