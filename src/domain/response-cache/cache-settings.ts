import type { Secret } from '../secret.ts';

/** Places where answers can be cached. */
export const CACHE_TYPES = ['local', 'redis'] as const;
export type CacheType = (typeof CACHE_TYPES)[number];

/** Whether calls use the cache without a request for it. */
export const CACHE_MODES = ['default_on', 'default_off'] as const;
type CacheMode = (typeof CACHE_MODES)[number];

/** Which callers share entries: those of a team, those of one key, or all. */
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

/** Call types of the reference, by their name in spend rows. The names without `a` are those of synchronous calls. */
const CALL_TYPE_NAMES: Readonly<Record<string, string>> = {
  completion: 'acompletion',
  text_completion: 'atext_completion',
  embedding: 'aembedding',
  responses: 'aresponses',
  transcription: 'atranscription',
  rerank: 'arerank',
  ...Object.fromEntries(CACHEABLE_CALL_TYPES.map((name) => [name, name])),
  // Accepted as in the reference. Answers of these calls are not cached.
  atranscription: 'atranscription',
  arerank: 'arerank',
};

/** Fault of a name in `supported_call_types`; null for a known one. */
export const callTypeFault = (name: string): string | null =>
  Object.hasOwn(CALL_TYPE_NAMES, name) ? null : `"${name}" is not one of ${Object.keys(CALL_TYPE_NAMES).join(', ')}`;

/** The call types of spend rows with these names. */
export const callTypesOf = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.map((name) => CALL_TYPE_NAMES[name] ?? name));

/** Seconds for which an answer is stored, where nothing sets them, as in the reference. */
export const DEFAULT_TTL_SECONDS: Readonly<Record<CacheType, number>> = { local: 600, redis: 60 };
/** Longest time for which an answer is stored, in seconds: one year. */
export const MAX_TTL_SECONDS = 365 * 24 * 60 * 60;
/** Calls with more messages are not cached by default, as in the reference. */
export const DEFAULT_MAX_MESSAGES = 4;

/** The Redis server of the cache. */
export interface CacheServer {
  readonly url: Secret;
  /** Prefix of all keys. */
  readonly prefix: string;
}

/** Settings of the cache of answers. */
export interface CacheSettings {
  readonly type: CacheType;
  readonly mode: CacheMode;
  readonly scope: CacheScope;
  /** Namespace of keys without one from the request; null for none. */
  readonly namespace: string | null;
  readonly ttlSeconds: number;
  /** Call types, by their names in spend rows. */
  readonly callTypes: ReadonlySet<string>;
  /** Calls with more messages are neither read nor stored; null for no limit. */
  readonly maxMessages: number | null;
  /** Null for the type `local`, and where no server is configured. */
  readonly server: CacheServer | null;
}
