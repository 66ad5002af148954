import { describe, expect, it } from 'vitest';
import { nestsTooDeep } from '../../../src/wire/json/nesting.ts';

const deep = (text: string, limit: number): boolean => nestsTooDeep(Buffer.from(text), limit);

describe('nesting of JSON text', () => {
  it('counts arrays and objects that are inside one another, to the limit itself', () => {
    expect(deep('[{"a":[1]}]', 3)).toBe(false);
    expect(deep('[{"a":[1]}]', 2)).toBe(true);
  });

  it('does not count what stands side by side', () => {
    expect(deep(`[${'{},[],'.repeat(1_000)}1]`, 2)).toBe(false);
  });

  it.each([String.raw`"[[[["`, String.raw`"\"[[[["`, String.raw`"\\\"[[[["`, '"é[[[["', '{"[[[[":"[[[["}'])(
    'does not count what is text: %s',
    (text) => {
      expect(deep(text, 1)).toBe(false);
    },
  );

  it('goes on counting after text that ends in a backslash', () => {
    expect(deep(String.raw`["\\",[[]]]`, 2)).toBe(true);
  });

  it('leaves text that never closes to the parser', () => {
    expect(deep('"[[[[', 1)).toBe(false);
  });

  it('takes no longer than a glance, however deep', () => {
    const started = performance.now();
    expect(deep('{"a":'.repeat(5_000_000), 500)).toBe(true);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
