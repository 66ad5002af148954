import { expect, it } from 'vitest';
import { frozenMemo } from '../../../src/domain/frozen-memo.ts';

it('a memo computes the value of a frozen object once, and of a mutable object each time', () => {
  const computed: object[] = [];
  const sizeOf = frozenMemo((object: object) => {
    computed.push(object);
    return Object.keys(object).length;
  });
  const frozen = Object.freeze({ a: 1, b: 2 });
  const mutable: Record<string, number> = { a: 1 };
  expect([sizeOf(frozen), sizeOf(frozen), sizeOf(mutable)]).toEqual([2, 2, 1]);
  mutable['b'] = 2;
  expect(sizeOf(mutable)).toBe(2);
  expect(computed).toEqual([frozen, mutable, mutable]);
});

it('a memo caches null, but not a failure', () => {
  let calls = 0;
  const value = frozenMemo((object: { readonly fails: boolean }) => {
    calls += 1;
    if (object.fails) throw new Error('refused');
    return null;
  });
  const good = Object.freeze({ fails: false });
  const bad = Object.freeze({ fails: true });
  expect([value(good), value(good)]).toEqual([null, null]);
  expect(() => value(bad)).toThrow('refused');
  expect(() => value(bad)).toThrow('refused');
  expect(calls).toBe(3);
});
