import type { JsonObject } from '../json-object.ts';
import type { CacheSettings, CacheType } from './cache-settings.ts';

/** Storage of encoded answers. */
export interface CacheBackend {
  /** Null for an absent or expired key. Rejects when the server cannot be reached. */
  get(key: string): Uint8Array | null | Promise<Uint8Array | null>;
  set(key: string, value: Uint8Array, ttlSeconds: number): void | Promise<void>;
  /** Removes answers by their keys. Returns the number of those that existed. */
  delete(keys: readonly string[]): number | Promise<number>;
  /** Removes all answers. Returns their number. */
  flush(): number | Promise<number>;
  /** Size of the entries in the memory of this process; null for entries on a server. */
  size(): CacheSize | null;
  close(): void;
}

/** Number of entries, and their size in bytes. */
export interface CacheSize {
  readonly entries: number;
  readonly bytes: number;
}

/** Counts since the start of the process. */
export interface CacheCounts {
  readonly hits: number;
  readonly misses: number;
  readonly stored: number;
  /** Answers that were not stored, because too many writes were waiting. */
  readonly dropped: number;
  /** Reads and writes that failed or took too long. */
  readonly failures: number;
  /** Bytes of all answers that were read. */
  readonly readBytes: number;
  /** Bytes of all answers that were stored. */
  readonly storedBytes: number;
}

/** The state of the cache. */
export interface CacheStatus {
  /** Null while the cache is off. */
  readonly settings: CacheSettings | null;
  readonly counts: CacheCounts;
  /** Null while the cache is off, and for entries on a server. */
  readonly size: CacheSize | null;
}

/** Clients and facts of a Redis server. */
export interface CacheServerInfo {
  readonly clientCount: number;
  /** Facts of each client, from `CLIENT LIST`. */
  readonly clients: readonly Readonly<Record<string, string>>[];
  /** Facts of the server, from `INFO`. */
  readonly info: Readonly<Record<string, string>>;
}

/** The cache of answers, as the gateway uses it. Its methods never throw or reject. */
export interface AnswerCache {
  /** Settings in force; null while the cache is off. */
  settings(): CacheSettings | null;
  /** SHA-256 of a text, as hex. */
  digest(text: string): string;
  /** An encoded answer; null for a miss, for a failure, and when the server does not answer in time. */
  read(key: string): Uint8Array | null | Promise<Uint8Array | null>;
  /** Starts to store an encoded answer, and returns immediately. A failure is only counted. */
  write(key: string, value: Uint8Array, ttlSeconds: number): void;
  /** Counts a read as a hit or a miss. */
  count(read: 'hit' | 'miss'): void;
}

/** The cache of answers, as operations use it. */
export interface ResponseCache extends AnswerCache {
  status(): CacheStatus;
  /** Writes and reads a test entry. Throws Unavailable when that fails, and while the cache is off. */
  ping(): Promise<CacheType>;
  /** As `CacheBackend.delete`. Throws Unavailable after a failure, and while the cache is off. */
  delete(keys: readonly string[]): Promise<number>;
  /** As `CacheBackend.flush`. Throws Unavailable after a failure, and while the cache is off. */
  flush(): Promise<number>;
  /** Throws Unavailable after a failure, while the cache is off, and for a cache that is not in Redis. */
  serverInfo(): Promise<CacheServerInfo>;
  /**
   * Pings the server in these settings. Throws InvalidInput for settings without a server, and Unavailable after a
   * failure.
   */
  testServer(settings: JsonObject): Promise<void>;
}
