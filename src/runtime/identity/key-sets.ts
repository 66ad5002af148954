import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../domain/clock.ts';
import { Unavailable } from '../../domain/errors.ts';

/** The part of `fetch` that reads key sets. */
export type KeySetFetch = (
  url: string,
  init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) => Promise<{
  readonly status: number;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}>;

/** Deadline of a read, in ms. */
const READ_MS = 5_000;
/** Maximum bytes of a key set. */
const MAX_BYTES = 1024 * 1024;
/** Maximum number of keys of a set. */
const MAX_KEYS = 200;
/** Minimum time between two reads of an address, in ms, also for tokens with unknown key ids. */
export const MIN_READ_INTERVAL_MS = 10_000;
/** Time after the last successful read in which keys are used although the address does not answer, in ms. */
export const OUTAGE_MS = 3_600_000;

interface Source {
  readonly url: string;
  /** Finds the key of a token header in the set that was read last; null before the first read. */
  resolve: JWTVerifyGetKey | null;
  /** Start of the last successful read. */
  readMs: number;
  /** Start of the last read, also of a failed one. */
  triedMs: number;
  reading: Promise<void> | null;
}

/** Signing keys of issuers, by the addresses of their key sets (RFC 7517) or discovery documents (OpenID Connect). */
export interface KeySets {
  /**
   * The key of a token header. Throws errors of `jose`, and Unavailable when a missing key may be in a set that cannot
   * be read.
   */
  readonly keyFor: JWTVerifyGetKey;
}

export function createKeySets(options: {
  readonly urls: readonly string[];
  /** Age in seconds at which a set is read again. */
  readonly ttlSeconds: number;
  readonly fetch: KeySetFetch;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called with each failed read. The error may name the host of the address and quote the answer. */
  readonly failed: (error: unknown) => void;
}): KeySets {
  const { ttlSeconds, fetch, clock, failed } = options;
  const never = Number.NEGATIVE_INFINITY;
  const sources = options.urls.map((url): Source => ({
    url,
    resolve: null,
    readMs: never,
    triedMs: never,
    reading: null,
  }));

  async function readSource(source: Source): Promise<void> {
    const startedMs = clock.monotonicMs();
    source.triedMs = startedMs;
    try {
      const keys = await readKeySet(source.url, fetch);
      source.resolve = createLocalJWKSet(keys);
      source.readMs = startedMs;
    } catch (error) {
      failed(error);
    }
  }

  /**
   * Reads a source unless its last read began within `MIN_READ_INTERVAL_MS`. Concurrent callers share one read. Never
   * rejects.
   */
  async function refresh(source: Source): Promise<void> {
    if (source.reading === null && clock.monotonicMs() - source.triedMs < MIN_READ_INTERVAL_MS) return;
    source.reading ??= readSource(source).finally(() => {
      source.reading = null;
    });
    await source.reading;
  }

  const ageOf = ({ readMs }: Source): number => clock.monotonicMs() - readMs;

  /** Waits for reads of sources without usable keys. Sources with old keys are read in the background. */
  async function prepare(): Promise<void> {
    const unusable = sources.filter((source) => ageOf(source) > OUTAGE_MS);
    for (const source of sources)
      if (ageOf(source) > ttlSeconds * 1000 && ageOf(source) <= OUTAGE_MS) void refresh(source);
    if (unusable.length > 0) await Promise.all(unusable.map(refresh));
  }

  /** The key of a token header, from the first source that has this key; null when no source has it. */
  async function find(...[header, token]: Parameters<JWTVerifyGetKey>) {
    for (const source of sources) {
      if (source.resolve === null || ageOf(source) > OUTAGE_MS) continue;
      try {
        // oxlint-disable-next-line no-await-in-loop -- the sources are tried in their order
        return await source.resolve(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      }
    }
    return null;
  }

  return {
    async keyFor(header, token) {
      await prepare();
      const cached = await find(header, token);
      if (cached !== null) return cached;
      await Promise.all(sources.map(refresh));
      const found = await find(header, token);
      if (found !== null) return found;
      if (sources.some((source) => ageOf(source) > OUTAGE_MS))
        throw new Unavailable('Tokens cannot be checked now: the keys of their issuer cannot be read.', retrySeconds());
      throw new errors.JWKSNoMatchingKey();
    },
  };

  /** Seconds until every source may be read again. */
  function retrySeconds(): number {
    const leftMs = sources.map(({ triedMs }) => MIN_READ_INTERVAL_MS - (clock.monotonicMs() - triedMs));
    return Math.max(1, Math.ceil(Math.max(...leftMs) / 1000));
  }
}

/** The key set at an address. For a discovery document, the set at its `jwks_uri`. */
async function readKeySet(url: string, fetch: KeySetFetch): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(READ_MS);
  const first = await readJson(url, fetch, signal);
  const jwksUri = first['jwks_uri'];
  const read =
    typeof jwksUri === 'string' && first['keys'] === undefined ? await readJson(jwksUri, fetch, signal) : first;
  const keys: unknown = read['keys'];
  if (!Array.isArray(keys) || keys.length > MAX_KEYS)
    throw new Error(`A key set has no list of at most ${MAX_KEYS} keys.`);
  return { keys: keys.filter(isPublicKey) };
}

/** Whether a value is a public key. Keys of type `oct` are HMAC secrets. */
const isPublicKey = (value: unknown): value is JWK =>
  isJsonObject(value) && typeof value['kty'] === 'string' && value['kty'] !== 'oct';

async function readJson(url: string, fetch: KeySetFetch, signal: AbortSignal): Promise<JsonObject> {
  if (!/^https?:\/\//i.test(url)) throw new Error('The address of a key set is not http(s).');
  const { status, body } = await fetch(url, { headers: { accept: 'application/json' }, signal });
  if (status !== 200) {
    await body?.cancel();
    throw new Error(`The address of a key set answered ${status}.`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`A key set is larger than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const read: unknown = JSON.parse(Buffer.concat(chunks, size).toString('utf8'));
  if (!isJsonObject(read)) throw new Error('A key set is not a JSON object.');
  return read;
}
