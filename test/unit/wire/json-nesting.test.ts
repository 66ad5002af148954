import { describe, expect, it } from 'vitest';
import { nestsTooDeep } from '../../../src/wire/json/nesting.ts';

const exceeds = (text: string, limit: number): boolean => nestsTooDeep(Buffer.from(text), limit);

describe('nestsTooDeep', () => {
  it('counts nested arrays and objects, up to the limit', () => {
    expect(exceeds('[{"a":[1]}]', 3)).toBe(false);
    expect(exceeds('[{"a":[1]}]', 2)).toBe(true);
  });

  it('does not count siblings', () => {
    expect(exceeds(`[${'{},[],'.repeat(1_000)}1]`, 2)).toBe(false);
  });

  it.each([String.raw`"[[[["`, String.raw`"\"[[[["`, String.raw`"\\\"[[[["`, '"é[[[["', '{"[[[[":"[[[["}'])(
    'does not count brackets in strings: %s',
    (text) => {
      expect(exceeds(text, 1)).toBe(false);
    },
  );

  it('continues after a string that ends in a backslash', () => {
    expect(exceeds(String.raw`["\\",[[]]]`, 2)).toBe(true);
  });

  it('leaves an unclosed string to the parser', () => {
    expect(exceeds('"[[[[', 1)).toBe(false);
  });

  it('stops reading at the limit', () => {
    const nested = (levels: number): Buffer => Buffer.from('{"a":'.repeat(levels));
    const [short, long] = [nested(5_000), nested(5_000_000)];
    expect([nestsTooDeep(short, 500), nestsTooDeep(long, 500)]).toEqual([true, true]);
    // A read of the whole text takes a thousand times as long.
    expect(fastest(() => nestsTooDeep(long, 500)) / fastest(() => nestsTooDeep(short, 500))).toBeLessThan(50);
  });
});

/** Shortest of many runs, in ms. It is the least affected by other load. */
function fastest(run: () => void): number {
  const times = Array.from({ length: 30 }, () => {
    const started = performance.now();
    run();
    return performance.now() - started;
  });
  return Math.min(...times);
}
