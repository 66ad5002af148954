import type { JsonObject } from '../json-object.ts';
import type { CacheSettings, CacheType } from './cache-settings.ts';

/** Stores encoded answers by key. */
export interface CacheBackend {
  /** Null for an absent key. Rejects when the server cannot be reached. */
  get(key: string): Uint8Array | null | Promise<Uint8Array | null>;
  set(key: string, value: Uint8Array, ttlSeconds: number): void | Promise<void>;
  /** Removes these keys. Resolves to the number of removed keys. */
  delete(keys: readonly string[]): number | Promise<number>;
  /** Removes all answers. Resolves to their number. */
  flush(): number | Promise<number>;
  /** Number and bytes of the entries of this process; null where they are elsewhere. */
  size(): CacheSize | null;
  close(): void;
}

/** Stored entries. */
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
  /** Bytes of answers that were read and stored. */
  readonly readBytes: number;
  readonly storedBytes: number;
}

/** The state of the cache. */
export interface CacheStatus {
  readonly settings: CacheSettings | null;
  readonly counts: CacheCounts;
  readonly size: CacheSize | null;
}

/** Clients and facts of a Redis server. */
export interface CacheServerInfo {
  readonly clientCount: number;
  /** One line for each client, as `CLIENT LIST` shows it. */
  readonly clients: readonly Readonly<Record<string, string>>[];
  readonly info: Readonly<Record<string, string>>;
}

/** The cache of answers, as the gateway uses it. Its methods never throw or reject. */
export interface AnswerCache {
  /** Settings in force; null while the cache is off. */
  settings(): CacheSettings | null;
  /** SHA-256 of a text, as hex. */
  digest(text: string): string;
  /** Encoded answer; null for a miss, and when the server does not answer in time. */
  read(key: string): Uint8Array | null | Promise<Uint8Array | null>;
  /** Stores an encoded answer. Does not wait for it. */
  write(key: string, value: Uint8Array, ttlSeconds: number): void;
  /** Counts a read as a hit or a miss. */
  count(read: 'hit' | 'miss'): void;
}

/** The cache of answers, as operations use it. These methods throw Unavailable while the cache is off. */
export interface ResponseCache extends AnswerCache {
  status(): CacheStatus;
  /** Writes and reads a test entry. Throws Unavailable. */
  ping(): Promise<CacheType>;
  delete(keys: readonly string[]): Promise<number>;
  flush(): Promise<number>;
  /** Throws Unavailable also where the cache is not in Redis. */
  serverInfo(): Promise<CacheServerInfo>;
  /** Connects to the server of these settings and pings it. Throws InvalidInput without a server, and Unavailable. */
  testServer(settings: JsonObject): Promise<void>;
}

/** Message of every failure without a cache. */
export const NO_CACHE = 'Cache not initialized. No cache of answers is configured.';
