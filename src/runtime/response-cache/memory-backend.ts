import type { CacheBackend, CacheSize } from '../../domain/response-cache/response-cache.ts';

/** Limits of the entries in memory. */
interface MemoryLimits {
  readonly entries: number;
  readonly bytes: number;
}

/** Limits of one process. */
const MEMORY_LIMITS: MemoryLimits = { entries: 10_000, bytes: 64 * 1024 * 1024 };

/** Estimated memory of an entry without its key and value, in bytes. */
const ENTRY_BYTES = 256;

const BYTES_PER_CHARACTER = 2;

interface Entry {
  readonly value: Uint8Array;
  /** Memory of the entry, with its key. */
  readonly bytes: number;
  readonly expiresAtMs: number;
}

/**
 * LRU cache of answers in the memory of this process. An entry larger than the limit of bytes is not stored. `nowMs`
 * reads a monotonic clock.
 */
export function createMemoryBackend(nowMs: () => number, limits = MEMORY_LIMITS): CacheBackend {
  /** The least recently used entry is first. */
  const entries = new Map<string, Entry>();
  let bytes = 0;

  function remove(key: string): boolean {
    const entry = entries.get(key);
    if (entry === undefined) return false;
    entries.delete(key);
    bytes -= entry.bytes;
    return true;
  }

  function evict(): void {
    for (const key of entries.keys()) {
      if (entries.size <= limits.entries && bytes <= limits.bytes) return;
      remove(key);
    }
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      entries.delete(key);
      if (entry.expiresAtMs > nowMs()) {
        entries.set(key, entry);
        return entry.value;
      }
      bytes -= entry.bytes;
      return null;
    },
    set(key, value, ttlSeconds) {
      remove(key);
      const size = value.byteLength + BYTES_PER_CHARACTER * key.length + ENTRY_BYTES;
      if (size > limits.bytes) return;
      entries.set(key, { value, bytes: size, expiresAtMs: nowMs() + ttlSeconds * 1_000 });
      bytes += size;
      evict();
    },
    delete: (keys) => keys.filter(remove).length,
    flush() {
      const count = entries.size;
      entries.clear();
      bytes = 0;
      return count;
    },
    size: (): CacheSize => ({ entries: entries.size, bytes }),
    close() {
      entries.clear();
      bytes = 0;
    },
  };
}
