import type { CacheBackend, CacheServerInfo } from '../../domain/response-cache/response-cache.ts';
import type { RedisConnection } from '../admission/redis/redis-client.ts';

/** Number of keys that one `SCAN` of a flush asks for. */
const SCANNED_KEYS = 500;

/** The cache in Redis, and facts of the server. */
export interface RedisBackend extends CacheBackend {
  serverInfo(): Promise<CacheServerInfo>;
}

/** Answers in Redis or Valkey, under keys with a prefix. All processes with the same server and prefix share them. */
export function createRedisBackend(redis: RedisConnection, namespace: string): RedisBackend {
  const prefix = `${namespace}:answers:`;

  async function flush(): Promise<number> {
    let cursor = '0';
    let removed = 0;
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${escaped(prefix)}*`, 'COUNT', SCANNED_KEYS);
      if (keys.length > 0) removed += await redis.unlink(...keys);
      cursor = next;
    } while (cursor !== '0');
    return removed;
  }

  return {
    get: (key) => redis.getBuffer(prefix + key),
    async set(key, value, ttlSeconds) {
      await redis.set(
        prefix + key,
        Buffer.from(value.buffer, value.byteOffset, value.byteLength),
        'PX',
        lifetimeMsOf(ttlSeconds),
      );
    },
    delete: (keys) => (keys.length === 0 ? 0 : redis.unlink(...keys.map((key) => prefix + key))),
    flush,
    size: () => null,
    close: () => redis.disconnect(),
    async serverInfo() {
      const [list, info] = await Promise.all([redis.client('LIST'), redis.info()]);
      const clients = String(list)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => Object.fromEntries(line.split(' ').map((pair) => splitAt(pair, '='))));
      const facts = info.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
      return {
        clientCount: clients.length,
        clients,
        info: Object.fromEntries(facts.map((line) => splitAt(line, ':'))),
      };
    },
  };
}

/** Whole milliseconds, at least 1: Redis refuses 0. */
const lifetimeMsOf = (seconds: number): number => Math.max(1, Math.round(seconds * 1_000));

/** Escapes the wildcards of a Redis pattern. */
const escaped = (text: string): string => text.replaceAll(/[\\*?[\]]/g, String.raw`\$&`);

/** The texts before and after the first separator; all of the text and an empty one without a separator. */
function splitAt(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
