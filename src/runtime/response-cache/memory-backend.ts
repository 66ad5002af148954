import type { CacheBackend, CacheSize } from '../../domain/response-cache/response-cache.ts';

/** Limits of the entries in memory. */
interface MemoryLimits {
  readonly entries: number;
  readonly bytes: number;
}

/** Limits of one process. */
const MEMORY_LIMITS: MemoryLimits = { entries: 10_000, bytes: 64 * 1024 * 1024 };

/** Memory of an entry besides its key and value, in bytes. */
const ENTRY_BYTES = 256;

interface Entry {
  readonly value: Uint8Array;
  readonly bytes: number;
  readonly endMs: number;
}

/**
 * Answers in the memory of this process. Beyond a limit, the entry that was used least recently is evicted. `nowMs`
 * reads a clock that never goes back.
 */
export function createMemoryBackend(nowMs: () => number, limits = MEMORY_LIMITS): CacheBackend {
  /** In the order of their last use. */
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
      if (entry.endMs > nowMs()) {
        entries.set(key, entry);
        return entry.value;
      }
      bytes -= entry.bytes;
      return null;
    },
    set(key, value, ttlSeconds) {
      remove(key);
      const size = value.byteLength + 2 * key.length + ENTRY_BYTES;
      if (size > limits.bytes) return;
      entries.set(key, { value, bytes: size, endMs: nowMs() + ttlSeconds * 1_000 });
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
