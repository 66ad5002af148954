import { describe, expect, it } from 'vitest';
import { randomIds } from '../../../src/runtime/identifiers.ts';

describe('identifiers', () => {
  it('for traces and spans have the format of W3C Trace Context, without duplicates', () => {
    const traces = Array.from({ length: 1_000 }, () => randomIds.traceId());
    const spans = Array.from({ length: 1_000 }, () => randomIds.spanId());
    expect(traces.filter((id) => !/^[0-9a-f]{32}$/.test(id))).toEqual([]);
    expect(spans.filter((id) => !/^[0-9a-f]{16}$/.test(id))).toEqual([]);
    expect([new Set(traces).size, new Set(spans).size]).toEqual([1_000, 1_000]);
  });

  it('for other objects are UUIDs of version 7 without duplicates, ordered by millisecond', () => {
    const ids = Array.from({ length: 1_000 }, () => randomIds.uuid());
    expect(ids.filter((id) => !/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toEqual(
      [],
    );
    expect(new Set(ids).size).toBe(1_000);
    // A UUID of version 7 begins with the time in ms: 12 digits, and a hyphen among them.
    const times = ids.map((id) => id.slice(0, 13));
    expect(times.toSorted()).toEqual(times);
  });

  it('for traces begin with the time of their creation, so that ids of the same time are adjacent in an index', () => {
    const before = Date.now();
    const timestamp = Number.parseInt(randomIds.traceId().slice(0, 12), 16);
    expect(timestamp).toBeGreaterThanOrEqual(before);
    expect(timestamp).toBeLessThanOrEqual(Date.now());
  });
});
