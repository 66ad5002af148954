import { createHash, randomUUID } from 'node:crypto';
import { CacheMissing } from '../../domain/response-cache/cache-missing.ts';
import type { CacheServer, CacheSettings } from '../../domain/response-cache/cache-settings.ts';
import type { CacheBackend, CacheCounts, ResponseCache } from '../../domain/response-cache/response-cache.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { InvalidInput, Unavailable } from '../../domain/errors.ts';
import { withDeadline } from '../../domain/with-deadline.ts';
import type { RedisConnection } from '../admission/redis/redis-client.ts';
import { secretCheck } from '../same-secret.ts';
import { createMemoryBackend } from './memory-backend.ts';
import { createRedisBackend, type RedisBackend } from './redis-backend.ts';

/** Deadline of the read of a model call, in ms. After it, the call is sent to its upstream. */
const READ_DEADLINE_MS = 200;
/** Deadline of a command of an administrator, in ms. */
const COMMAND_DEADLINE_MS = 2_000;
/** Deadline of a flush, which scans all keys of the server, in ms. */
const FLUSH_DEADLINE_MS = 30_000;
/** Time after a failure in which model calls neither read nor write, in ms. */
const PAUSE_MS = 1_000;
/** Lifetime of the entry that `ping` stores, in seconds. */
const PING_TTL_SECONDS = 10;
/** Maximum bytes of answers whose write has not ended. Further answers are dropped. */
const MAX_WRITING_BYTES = 32 * 1024 * 1024;

interface CacheOptions {
  /** Connects to a server. Rejects with Unavailable when the client is not installed. */
  readonly connect: (server: CacheServer) => Promise<RedisConnection>;
  /** The server that these cache settings name; null for none. */
  readonly serverOf: (settings: JsonObject) => CacheServer | null;
  readonly nowMs: () => number;
  /**
   * Called with a failure when the cache fails for the first time after a success or a change of its place. Called with
   * null when the cache answers for the first time after a failure.
   */
  readonly changed: (failure: unknown) => void;
}

/** A cache whose settings can be replaced. */
export interface ConfiguredCache extends ResponseCache {
  /** Applies settings; null turns the cache off. The entries are kept when type and server are unchanged. */
  configure(settings: CacheSettings | null): void;
  close(): void;
}

export function createResponseCache(options: CacheOptions): ConfiguredCache {
  return new AnswerStore(options);
}

/** Where answers are stored: in this process or in a Redis server. */
interface Place {
  settings: CacheSettings;
  /** Null until the connection is open, and without a server. */
  backend: CacheBackend | null;
  /** The same backend when it is Redis. */
  redis: RedisBackend | null;
  /** Set when other settings have replaced the place. Its later failures are ignored. */
  isClosed: boolean;
}

class AnswerStore implements ConfiguredCache {
  readonly #options: CacheOptions;
  #place: Place | null = null;
  #counts: { -readonly [Name in keyof CacheCounts]: number } = {
    hits: 0,
    misses: 0,
    stored: 0,
    dropped: 0,
    failures: 0,
    readBytes: 0,
    storedBytes: 0,
  };
  #pausedUntilMs = 0;
  #hasFailed = false;
  #writingBytes = 0;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  configure(settings: CacheSettings | null): void {
    const place = this.#place;
    if (place !== null && settings !== null && isSamePlace(place.settings, settings)) {
      place.settings = settings;
      return;
    }
    this.#closePlace();
    this.#pausedUntilMs = 0;
    this.#hasFailed = false;
    this.#place = settings === null ? null : this.#open(settings);
  }

  close(): void {
    this.#closePlace();
    this.#place = null;
  }

  settings(): CacheSettings | null {
    return this.#place?.settings ?? null;
  }

  digest(text: string): string {
    return createHash('sha256').update(text).digest('hex');
  }

  count(read: 'hit' | 'miss'): void {
    if (read === 'hit') this.#counts.hits += 1;
    else this.#counts.misses += 1;
  }

  read(key: string): Uint8Array | null | Promise<Uint8Array | null> {
    const place = this.#place;
    const backend = place?.backend ?? null;
    if (place === null || backend === null || this.#isPaused()) return null;
    const reading = backend.get(key);
    return reading instanceof Promise ? this.#finishRead(reading, place) : this.#countRead(reading);
  }

  write(key: string, value: Uint8Array, ttlSeconds: number): void {
    const place = this.#place;
    const backend = place?.backend ?? null;
    if (place === null || backend === null || this.#isPaused()) return;
    const size = value.byteLength;
    if (this.#writingBytes + size > MAX_WRITING_BYTES) {
      this.#counts.dropped += 1;
      return;
    }
    const writing = backend.set(key, value, ttlSeconds);
    if (!(writing instanceof Promise)) return this.#countWrite(size);
    this.#writingBytes += size;
    void writing
      .then(() => {
        this.#noteSuccess(place);
        this.#countWrite(size);
      })
      .catch((failure: unknown) => this.#noteFailure(place, failure))
      .finally(() => {
        this.#writingBytes -= size;
      });
  }

  status(): ReturnType<ResponseCache['status']> {
    const { settings = null, backend = null } = this.#place ?? {};
    return { settings, counts: { ...this.#counts }, size: backend?.size() ?? null };
  }

  async ping(): Promise<CacheSettings['type']> {
    const { settings, backend } = this.#opened();
    const key = `ping:${randomUUID()}`;
    const value = new TextEncoder().encode(key);
    const found = await this.#command(async () => {
      await backend.set(key, value, PING_TTL_SECONDS);
      const read = await backend.get(key);
      await backend.delete([key]);
      return read;
    });
    if (found === null || !Buffer.from(found).equals(value))
      throw new Unavailable('The cache does not return what was stored.', null);
    return settings.type;
  }

  delete(keys: readonly string[]): Promise<number> {
    const { backend } = this.#opened();
    return this.#command(async () => backend.delete(keys));
  }

  flush(): Promise<number> {
    const { backend } = this.#opened();
    return this.#command(async () => backend.flush(), FLUSH_DEADLINE_MS);
  }

  async serverInfo(): ReturnType<ResponseCache['serverInfo']> {
    const { settings } = this.#opened();
    const redis = this.#place?.redis ?? null;
    if (redis === null)
      throw new Unavailable(`The cache of answers is of the type \`${settings.type}\`, not Redis.`, null);
    return this.#command(() => redis.serverInfo());
  }

  async testServer(settings: JsonObject): Promise<void> {
    const server = this.#options.serverOf(settings);
    if (server === null) {
      const message = 'Set `host` or `url` of one Redis server. Clusters and sentinels are not supported.';
      throw new InvalidInput(message, [{ path: ['body', 'host'], rule: 'missing', message }]);
    }
    if (!URL.canParse(server.url.reveal())) {
      const message = 'The host or the URL of the Redis server is not valid.';
      throw new InvalidInput(message, [{ path: ['body', 'host'], rule: 'invalid', message }]);
    }
    const connection = await this.#options.connect(server);
    try {
      await this.#command(() => connection.ping());
    } finally {
      connection.disconnect();
    }
  }

  #open(settings: CacheSettings): Place {
    const backend = settings.type === 'local' ? createMemoryBackend(this.#options.nowMs) : null;
    const place: Place = { settings, backend, redis: null, isClosed: false };
    if (settings.server !== null) void this.#connect(place, settings.server);
    else if (settings.type === 'redis')
      this.#options.changed(
        new Unavailable('The cache of answers is of the type `redis`, but no server is set.', null),
      );
    return place;
  }

  async #connect(place: Place, server: CacheServer): Promise<void> {
    try {
      const connection = await this.#options.connect(server);
      if (place.isClosed) return connection.disconnect();
      place.redis = createRedisBackend(connection, server.prefix);
      place.backend = place.redis;
    } catch (failure) {
      this.#noteFailure(place, failure);
    }
  }

  #closePlace(): void {
    const place = this.#place;
    if (place === null) return;
    place.isClosed = true;
    place.backend?.close();
  }

  #isPaused(): boolean {
    return this.#options.nowMs() < this.#pausedUntilMs;
  }

  /** Settings and backend. Throws Unavailable while the cache is off, or has no connection to its server. */
  #opened(): { readonly settings: CacheSettings; readonly backend: CacheBackend } {
    const { settings, backend = null } = this.#place ?? {};
    if (settings === undefined) throw new CacheMissing();
    if (backend === null) throw new Unavailable('The server of the cache of answers does not answer.');
    return { settings, backend };
  }

  /** Runs a command of an administrator. Throws Unavailable when it fails or takes longer than `deadlineMs`. */
  async #command<Result>(run: () => Promise<Result>, deadlineMs = COMMAND_DEADLINE_MS): Promise<Result> {
    try {
      return await withDeadline(run(), deadlineMs, throwTimeout);
    } catch (cause) {
      throw new Unavailable('The server of the cache of answers does not answer.', undefined, { cause });
    }
  }

  /** The answer of a read; null when the read fails or takes longer than `READ_DEADLINE_MS`. */
  async #finishRead(reading: Promise<Uint8Array | null>, place: Place): Promise<Uint8Array | null> {
    try {
      const value = await withDeadline(reading, READ_DEADLINE_MS, throwTimeout);
      this.#noteSuccess(place);
      return this.#countRead(value);
    } catch (failure) {
      this.#noteFailure(place, failure);
      return null;
    }
  }

  #countRead(value: Uint8Array | null): Uint8Array | null {
    this.#counts.readBytes += value?.byteLength ?? 0;
    return value;
  }

  #countWrite(bytes: number): void {
    this.#counts.stored += 1;
    this.#counts.storedBytes += bytes;
  }

  #noteSuccess(place: Place): void {
    if (place.isClosed || !this.#hasFailed) return;
    this.#hasFailed = false;
    this.#options.changed(null);
  }

  /** Counts a failure and pauses the cache for `PAUSE_MS`. */
  #noteFailure(place: Place, failure: unknown): void {
    if (place.isClosed) return;
    this.#counts.failures += 1;
    this.#pausedUntilMs = this.#options.nowMs() + PAUSE_MS;
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.changed(failure);
  }
}

function throwTimeout(): never {
  throw new Error('The cache of answers did not answer in time.');
}

/** Whether two settings have the same type and server. */
function isSamePlace({ type, server }: CacheSettings, other: CacheSettings): boolean {
  if (server === null || other.server === null) return type === other.type && server === other.server;
  return type === other.type && server.prefix === other.server.prefix && isSameUrl(server, other.server);
}

const isSameUrl = (one: CacheServer, other: CacheServer): boolean => secretCheck(one.url)(other.url.reveal());
