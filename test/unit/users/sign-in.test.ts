import { describe, expect, it } from 'vitest';
import { createSignInThrottle, SignInThrottled } from '../../../src/domain/users/sign-in.ts';

function throttleOf(limits: { readonly perSource?: number; readonly countsSources?: boolean } = {}) {
  let nowMs = 1_000;
  const throttle = createSignInThrottle(
    { perSource: 10, windowSeconds: 60, blockSeconds: 300, countsSources: false, ...limits },
    { now: () => new Date(nowMs), monotonicMs: () => nowMs },
  );
  return {
    ...throttle,
    pass: (seconds: number): void => {
      nowMs += seconds * 1_000;
    },
    fail(times: number, name = 'anna', source = 'a'): void {
      for (let turn = 0; turn < times; turn += 1) throttle.failed({ source, name });
    },
    isOpen(name = 'anna', source = 'a'): boolean {
      try {
        throttle.admit({ source, name });
        return true;
      } catch (error) {
        if (error instanceof SignInThrottled) return false;
        throw error;
      }
    },
  };
}

describe('failed sign-ins', () => {
  it('five of a name from a source are free, the sixth blocks it, in any case of letters', () => {
    const throttle = throttleOf();
    throttle.fail(5);
    expect(throttle.isOpen()).toBe(true);
    throttle.fail(1);
    expect([throttle.isOpen(), throttle.isOpen('ANNA'), throttle.isOpen('bert'), throttle.isOpen('anna', 'b')]).toEqual(
      [false, false, true, true],
    );
  });

  it('a name is counted by its first 256 characters', () => {
    const throttle = throttleOf();
    throttle.fail(6, 'x'.repeat(256));
    expect([throttle.isOpen(`${'x'.repeat(256)}y`), throttle.isOpen('x'.repeat(255))]).toEqual([false, true]);
  });

  it('a block ends after its time, and names the seconds that are left', () => {
    const throttle = throttleOf();
    throttle.fail(6);
    throttle.pass(299);
    expect(() => throttle.admit({ source: 'a', name: 'anna' })).toThrow('Try again in 1 seconds.');
    throttle.pass(1);
    expect(throttle.isOpen()).toBe(true);
  });

  it('a window ends after its time, and a success clears the name', () => {
    const throttle = throttleOf();
    throttle.fail(5);
    throttle.pass(60);
    throttle.fail(1);
    expect(throttle.isOpen()).toBe(true);
    throttle.fail(4);
    throttle.succeeded({ source: 'a', name: 'Anna' });
    throttle.fail(5);
    expect(throttle.isOpen()).toBe(true);
  });

  it('eleven of a source block all its names, where sources are counted', () => {
    const names = Array.from({ length: 11 }, (_none, index) => `user-${index}`);
    const counting = throttleOf({ countsSources: true });
    for (const name of names.slice(0, 10)) counting.fail(1, name);
    expect(counting.isOpen('other')).toBe(true);
    counting.fail(1, names[10]);
    expect([counting.isOpen('other'), counting.isOpen('other', 'b')]).toEqual([false, true]);
    const plain = throttleOf();
    for (const name of names) plain.fail(1, name);
    expect(plain.isOpen('other')).toBe(true);
  });

  it('no limit at 0, and at least one failure is free', () => {
    const open = throttleOf({ perSource: 0 });
    open.fail(100);
    expect(open.isOpen()).toBe(true);
    const strict = throttleOf({ perSource: 1 });
    strict.fail(1);
    expect(strict.isOpen()).toBe(true);
    strict.fail(1);
    expect(strict.isOpen()).toBe(false);
  });
});
