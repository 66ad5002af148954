import type { ModelRequest } from '../chat/chat.ts';
import { Forbidden } from '../errors.ts';
import { invalidType } from '../inference/request-validation.ts';
import { isJsonObject } from '../json-object.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';
import { MAX_TTL_SECONDS } from './cache-settings.ts';
import type { CacheControls } from './cache-use.ts';

/** Maximum length of a namespace, in characters. */
const MAX_NAMESPACE_CHARACTERS = 128;
const NAMESPACE = /^[\w.:@/-]+$/;

/**
 * Reads the cache controls of a request from `cache` and `caching`. Unknown controls have no effect. Throws
 * InvalidInput.
 */
export function cacheControlsOf({ body, endpoint }: Pick<ModelRequest, 'endpoint' | 'body'>): {
  readonly cache?: CacheControls;
} {
  const sent = body['cache'] ?? undefined;
  const caching = body['caching'] ?? undefined;
  if (sent === undefined && caching === undefined) return {};
  if (sent !== undefined && !isJsonObject(sent)) throw invalidType('cache', 'an object', endpoint);
  if (caching !== undefined && typeof caching !== 'boolean') throw invalidType('caching', 'a boolean', endpoint);
  const controls = sent ?? {};
  const flag = (name: string): boolean | null => {
    const value = controls[name] ?? null;
    if (value !== null && typeof value !== 'boolean') throw invalidType(`cache.${name}`, 'a boolean', endpoint);
    return value;
  };
  const seconds = (name: string): number | null => {
    const value = controls[name] ?? null;
    const isValid = typeof value === 'number' && value >= 0 && value <= MAX_TTL_SECONDS;
    if (value !== null && !isValid)
      throw invalidType(`cache.${name}`, `a number of seconds from 0 to ${MAX_TTL_SECONDS}`, endpoint);
    return value;
  };
  const namespace = controls['namespace'] ?? null;
  const isNamespace =
    typeof namespace === 'string' && namespace.length <= MAX_NAMESPACE_CHARACTERS && NAMESPACE.test(namespace);
  if (namespace !== null && !isNamespace)
    throw invalidType(
      'cache.namespace',
      `a text of at most ${MAX_NAMESPACE_CHARACTERS} letters, digits and _ . : @ / -`,
      endpoint,
    );
  return {
    cache: {
      use: flag('use-cache') ?? caching ?? null,
      noCache: flag('no-cache') ?? false,
      noStore: flag('no-store') ?? false,
      ttlSeconds: seconds('ttl'),
      maxAgeSeconds: seconds('s-maxage') ?? seconds('s-max-age'),
      namespace,
      names: caching === undefined ? Object.keys(controls) : [...Object.keys(controls), 'caching'],
    },
  };
}

/**
 * Throws Forbidden for a control that is not in `allowed_cache_controls` of the key. An empty list allows all controls.
 */
export function assertMayControlCache(key: VirtualKey, controls: CacheControls | undefined): void {
  if (controls === undefined) return;
  const allowed = key.settings.allowedCacheControls ?? [];
  if (allowed.length === 0) return;
  // `caching` is another name of `use-cache`.
  const isAllowed = (name: string): boolean =>
    allowed.includes(name) || (name === 'caching' && allowed.includes('use-cache'));
  const forbidden = controls.names.find((name) => !isAllowed(name));
  if (forbidden === undefined) return;
  const message = `Not allowed to set ${forbidden.slice(0, 256)} as a cache control. Contact admin to change permissions.`;
  throw new Forbidden(message, null, { hasWordsOfReference: true });
}
