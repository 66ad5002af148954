import { describe, expect, it } from 'vitest';
import { createMemoryBackend } from '../../../src/runtime/response-cache/memory-backend.ts';

const value = (size: number): Uint8Array => new Uint8Array(size);

describe('answers in memory', () => {
  it('an answer ends after its time', () => {
    let nowMs = 0;
    const cache = createMemoryBackend(() => nowMs);
    void cache.set('a', value(1), 2);
    nowMs = 1_999;
    expect(cache.get('a')).toEqual(value(1));
    nowMs = 2_000;
    expect(cache.get('a')).toBeNull();
    expect(cache.size()).toEqual({ entries: 0, bytes: 0 });
  });

  it('evicts the least recently used answer beyond the number of entries', () => {
    const cache = createMemoryBackend(() => 0, { entries: 2, bytes: 10_000 });
    for (const key of ['a', 'b']) void cache.set(key, value(1), 9);
    void cache.get('a');
    void cache.set('c', value(1), 9);
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== null)).toEqual([true, false, true]);
  });

  it('evicts beyond the bytes, and does not store an answer larger than all of them', () => {
    const cache = createMemoryBackend(() => 0, { entries: 100, bytes: 3_000 });
    for (const key of ['a', 'b', 'c']) void cache.set(key, value(1_000), 9);
    expect(cache.size()).toEqual({ entries: 2, bytes: 2 * (1_000 + 2 + 256) });
    expect(cache.get('a')).toBeNull();
    void cache.set('d', value(3_000), 9);
    expect(cache.get('d')).toBeNull();
    expect(cache.get('b')).not.toBeNull();
  });

  it('a replaced answer counts once; delete and flush return what they removed', () => {
    const cache = createMemoryBackend(() => 0);
    for (const size of [10, 20]) void cache.set('a', value(size), 9);
    void cache.set('b', value(1), 9);
    expect(cache.size()).toEqual({ entries: 2, bytes: 20 + 1 + 2 * (2 + 256) });
    expect(cache.delete(['b', 'unknown'])).toBe(1);
    expect(cache.flush()).toBe(1);
    expect(cache.size()).toEqual({ entries: 0, bytes: 0 });
  });
});
