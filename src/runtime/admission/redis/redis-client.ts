import type { EventEmitter } from 'node:events';
import type { Secret } from '../../../domain/secret.ts';
import { Unavailable } from '../../../domain/errors.ts';
import type { RedisCommands } from './redis-ledger.ts';

/** A Redis or Valkey server. */
export interface RedisLocation {
  /** `redis:` or `rediss:`; may contain user, password and database number. */
  readonly url: Secret;
  /** Prefix of all keys. */
  readonly namespace: string;
}

/** How long the start of the process waits for the connection, in ms. */
const FIRST_CONNECTION_MS = 1_000;
/** Timeout of one attempt to connect, in ms. */
const CONNECT_MS = 2_000;
/** Maximum wait before another attempt to connect, in ms. */
const RECONNECT_MS = 1_000;
/** Timeout of one command, in ms. Callers on the path of a model call give up earlier. */
const COMMAND_MS = 1_000;

/**
 * Commands of a connection: those of the shared limits, of the response cache and of health tests. Each rejects after
 * `COMMAND_MS` without an answer.
 */
export interface RedisConnection extends RedisCommands {
  ping(): Promise<unknown>;
  getBuffer(key: string): Promise<Buffer | null>;
  set(key: string, value: Buffer, unit: 'PX', milliseconds: number): Promise<unknown>;
  unlink(...keys: string[]): Promise<number>;
  scan(cursor: string, match: 'MATCH', pattern: string, count: 'COUNT', size: number): Promise<[string, string[]]>;
  client(command: 'LIST'): Promise<unknown>;
  info(): Promise<string>;
}

/**
 * Connects, and reconnects after a loss. Commands fail while there is no connection. Throws Unavailable when the client
 * is not installed.
 */
export async function connectRedis({ url }: RedisLocation): Promise<RedisConnection> {
  const { Redis } = await import('ioredis').catch(notInstalled);
  const redis = new Redis(url.reveal(), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    retryStrategy: (times: number) => Math.min(50 * times, RECONNECT_MS),
    connectionName: 'lensgate',
    // Latency matters more than the number of packets.
    noDelay: true,
  });
  // A lost connection is reported by the commands that fail.
  redis.on('error', () => {});
  await firstConnection(redis);
  return redis;
}

/** Resolves when the connection is ready, or after `FIRST_CONNECTION_MS`: the process also starts without Redis. */
async function firstConnection(redis: EventEmitter): Promise<void> {
  const signal = AbortSignal.timeout(FIRST_CONNECTION_MS);
  const ready = Promise.withResolvers<void>();
  redis.once('ready', ready.resolve);
  signal.addEventListener('abort', () => ready.resolve());
  await ready.promise;
  redis.off('ready', ready.resolve);
}

function notInstalled(cause: unknown): never {
  const message =
    'Redis is configured, but the package `ioredis` cannot be loaded. Run `npm install ioredis`, or remove the settings of Redis.';
  throw new Unavailable(message, null, { cause });
}
