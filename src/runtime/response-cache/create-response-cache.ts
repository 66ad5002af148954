import { createHash, randomUUID } from 'node:crypto';
import type { CacheServer, CacheSettings } from '../../domain/response-cache/cache-settings.ts';
import {
  type CacheBackend,
  type CacheCounts,
  NO_CACHE,
  type ResponseCache,
} from '../../domain/response-cache/response-cache.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { InvalidInput, Unavailable } from '../../domain/errors.ts';
import { withDeadline } from '../../domain/with-deadline.ts';
import type { RedisConnection } from '../admission/redis/redis-client.ts';
import { secretCheck } from '../same-secret.ts';
import { createMemoryBackend } from './memory-backend.ts';
import { createRedisBackend, type RedisBackend } from './redis-backend.ts';

/** Deadline of a read before a call, in ms. */
const READ_MS = 200;
/** Deadline of a command of a request of the API, in ms. */
const COMMAND_MS = 2_000;
/** Deadline of a flush, which scans all keys of the server, in ms. */
const FLUSH_MS = 30_000;
/** After a failure, calls do not read or write for this time, in ms. */
const PAUSE_MS = 1_000;
/** Maximum bytes of answers whose write has not ended. Further answers are not stored. */
const MAX_WRITING_BYTES = 32 * 1024 * 1024;

interface CacheOptions {
  /** Connects to a server. Rejects with Unavailable when the client is not installed. */
  readonly connect: (server: CacheServer) => Promise<RedisConnection>;
  /** The server of settings as they are stored; null for none. */
  readonly serverOf: (settings: JsonObject) => CacheServer | null;
  readonly nowMs: () => number;
  /** Reports the first failure after a success, and the first success after a failure (null). */
  readonly changed: (failure: unknown) => void;
}

/** A cache whose settings can be replaced. */
export interface ConfiguredCache extends ResponseCache {
  /** Applies settings; null turns the cache off. Entries stay where type and server are unchanged. */
  configure(settings: CacheSettings | null): void;
  close(): void;
}

export function createResponseCache(options: CacheOptions): ConfiguredCache {
  return new AnswerStore(options);
}

/** The place of answers that follows from settings. */
interface Place {
  settings: CacheSettings;
  /** Null until the connection is open, and without a server. */
  backend: CacheBackend | null;
  redis: RedisBackend | null;
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
    const backend = this.#usable();
    if (backend === null) return null;
    const reading = backend.get(key);
    return reading instanceof Promise ? this.#answered(reading) : this.#counted(reading);
  }

  write(key: string, value: Uint8Array, ttlSeconds: number): void {
    const backend = this.#usable();
    if (backend === null) return;
    const size = value.byteLength;
    if (this.#writingBytes + size > MAX_WRITING_BYTES) {
      this.#counts.dropped += 1;
      return;
    }
    const writing = backend.set(key, value, ttlSeconds);
    if (!(writing instanceof Promise)) return this.#written(size);
    this.#writingBytes += size;
    void writing
      .then(() => {
        this.#succeeded();
        this.#written(size);
      })
      .catch((failure: unknown) => this.#failed(failure))
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
      await backend.set(key, value, 10);
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
    return this.#command(async () => backend.flush(), FLUSH_MS);
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
      this.#failed(failure);
    }
  }

  #closePlace(): void {
    const place = this.#place;
    if (place === null) return;
    place.isClosed = true;
    place.backend?.close();
  }

  /** The backend; null while it is paused after a failure. */
  #usable(): CacheBackend | null {
    const backend = this.#place?.backend ?? null;
    return backend === null || this.#options.nowMs() < this.#pausedUntilMs ? null : backend;
  }

  #opened(): { readonly settings: CacheSettings; readonly backend: CacheBackend } {
    const { settings, backend = null } = this.#place ?? {};
    if (settings === undefined) throw new Unavailable(NO_CACHE, null);
    if (backend === null) throw new Unavailable('The server of the cache of answers does not answer.');
    return { settings, backend };
  }

  async #command<Result>(run: () => Promise<Result>, milliseconds = COMMAND_MS): Promise<Result> {
    try {
      return await withDeadline(run(), milliseconds, noAnswer);
    } catch (cause) {
      throw new Unavailable('The server of the cache of answers does not answer.', undefined, { cause });
    }
  }

  async #answered(reading: Promise<Uint8Array | null>): Promise<Uint8Array | null> {
    try {
      const value = await withDeadline(reading, READ_MS, noAnswer);
      this.#succeeded();
      return this.#counted(value);
    } catch (failure) {
      this.#failed(failure);
      return null;
    }
  }

  #counted(value: Uint8Array | null): Uint8Array | null {
    this.#counts.readBytes += value?.byteLength ?? 0;
    return value;
  }

  #written(bytes: number): void {
    this.#counts.stored += 1;
    this.#counts.storedBytes += bytes;
  }

  #succeeded(): void {
    if (!this.#hasFailed) return;
    this.#hasFailed = false;
    this.#options.changed(null);
  }

  #failed(failure: unknown): void {
    this.#counts.failures += 1;
    this.#pausedUntilMs = this.#options.nowMs() + PAUSE_MS;
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.changed(failure);
  }
}

function noAnswer(): never {
  throw new Error('The cache of answers did not answer in time.');
}

/** Whether two settings have the same type and server. */
function isSamePlace({ type, server }: CacheSettings, other: CacheSettings): boolean {
  if (server === null || other.server === null) return type === other.type && server === other.server;
  return type === other.type && server.prefix === other.server.prefix && isSameUrl(server, other.server);
}

const isSameUrl = (one: CacheServer, other: CacheServer): boolean => secretCheck(one.url)(other.url.reveal());
