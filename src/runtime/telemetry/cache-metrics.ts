import type { Counter, Gauge, Registry } from 'prom-client';
import type { CacheCounts, CacheStatus } from '../../domain/response-cache/response-cache.ts';

interface Library {
  readonly Counter: typeof Counter;
  readonly Gauge: typeof Gauge;
}

/** Counts of the cache by the value of the label `result`. */
const RESULTS: Readonly<Record<string, keyof CacheCounts>> = {
  hit: 'hits',
  miss: 'misses',
  stored: 'stored',
  dropped: 'dropped',
  failed: 'failures',
};

/** Adds the metrics of the cache of answers. */
export function addCacheMetrics(library: Library, registry: Registry, status: () => CacheStatus): void {
  const registers = [registry];
  const uses = new library.Counter({
    name: 'lensgate_response_cache_total',
    help: 'Uses of the cache of answers. `hit` and `miss`: reads of calls; `stored`: stored answers; `dropped`: answers that were not stored, because too many writes were waiting; `failed`: reads and writes that failed or took too long.',
    labelNames: ['result'],
    registers,
    collect() {
      const { counts } = status();
      uses.reset();
      for (const [result, name] of Object.entries(RESULTS)) uses.inc({ result }, counts[name]);
    },
  });
  const bytes = new library.Counter({
    name: 'lensgate_response_cache_bytes_total',
    help: 'Bytes of answers that were read from the cache and stored in it.',
    labelNames: ['direction'],
    registers,
    collect() {
      const { readBytes, storedBytes } = status().counts;
      bytes.reset();
      bytes.inc({ direction: 'read' }, readBytes);
      bytes.inc({ direction: 'stored' }, storedBytes);
    },
  });
  const memory = new library.Gauge({
    name: 'lensgate_response_cache_memory_bytes',
    help: 'Memory of the cached answers in this process; 0 when answers are in Redis.',
    registers,
    collect() {
      memory.set(status().size?.bytes ?? 0);
    },
  });
  const entries = new library.Gauge({
    name: 'lensgate_response_cache_entries',
    help: 'Cached answers in the memory of this process; 0 when answers are in Redis.',
    registers,
    collect() {
      entries.set(status().size?.entries ?? 0);
    },
  });
}
