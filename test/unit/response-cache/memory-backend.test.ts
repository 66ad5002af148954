import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/runtime/response-cache/memory-backend.ts';

const value = (size: number): Uint8Array => new Uint8Array(size);

/** Counted bytes of an entry in addition to its value: the key `a` in UTF-16, and the overhead of an entry. */
const ENTRY_BYTES = 2 + 256;

describe('answers in memory', () => {
  it('an answer expires after its ttl', () => {
    let nowMs = 0;
    const cache = createMemoryBackend(() => nowMs);
    void cache.set('a', value(1), 2);
    nowMs = 1_999;
    expect(cache.get('a')).toEqual(value(1));
    nowMs = 2_000;
    expect(cache.get('a')).toBeNull();
    expect(cache.size()).toEqual({ entries: 0, bytes: 0 });
  });

  it('evicts the least recently used answer above the maximum number of entries', () => {
    const cache = createMemoryBackend(() => 0, { entries: 2, bytes: 10_000 });
    for (const key of ['a', 'b']) void cache.set(key, value(1), 9);
    expect(cache.get('a')).toEqual(value(1));
    void cache.set('c', value(1), 9);
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== null)).toEqual([true, false, true]);
  });

  it('evicts above the maximum bytes, and does not store an answer larger than this maximum', () => {
    const cache = createMemoryBackend(() => 0, { entries: 100, bytes: 3_000 });
    for (const key of ['a', 'b', 'c']) void cache.set(key, value(1_000), 9);
    expect(cache.size()).toEqual({ entries: 2, bytes: 2 * (1_000 + ENTRY_BYTES) });
    expect(cache.get('a')).toBeNull();
    void cache.set('d', value(3_000), 9);
    expect(cache.get('d')).toBeNull();
    expect(cache.get('b')).not.toBeNull();
  });

  it('counts a replaced answer once; delete and flush return the number of removed answers', () => {
    const cache = createMemoryBackend(() => 0);
    for (const size of [10, 20]) void cache.set('a', value(size), 9);
    void cache.set('b', value(1), 9);
    expect(cache.size()).toEqual({ entries: 2, bytes: 20 + 1 + 2 * ENTRY_BYTES });
    expect(cache.delete(['b', 'unknown'])).toBe(1);
    expect(cache.flush()).toBe(1);
    expect(cache.size()).toEqual({ entries: 0, bytes: 0 });
  });
});
