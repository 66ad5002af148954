import { describe, expect, it } from 'vitest';
import { createSignInThrottle, SignInThrottled } from '../../../src/domain/users/sign-in.ts';
import { createSourceLimits, type SourceLimits } from '../../../src/runtime/network/source-limits.ts';

function throttleOf(
  limits: { readonly perSource?: number; readonly countsSources?: boolean; readonly bySource?: SourceLimits } = {},
) {
  let nowMs = 1_000;
  const throttle = createSignInThrottle(
    {
      perSource: 10,
      windowSeconds: 60,
      blockSeconds: 300,
      countsSources: false,
      limitOf: createSourceLimits(limits.bySource ?? []),
      ...limits,
    },
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

  it('a network with a limit of its own: the smallest block holds, 0 sets no limit', () => {
    const bySource: SourceLimits = [
      ['10.0.0.0/8', 2],
      ['10.1.0.0/16', 20],
      ['10.1.2.3', 0],
      ['10.1.2.3/32', 4],
      ['fd00::1', 2],
    ];
    const throttle = throttleOf({ bySource });
    const failuresUntilBlocked = (source: string): number => {
      for (let times = 1; times <= 30; times += 1) {
        throttle.fail(1, 'anna', source);
        if (!throttle.isOpen('anna', source)) return times;
      }
      return Infinity;
    };
    expect(
      ['10.9.9.9', '10.1.9.9', '10.1.2.3', '192.0.2.1', 'fd00::/64', 'fd00:1::/64', 'unknown'].map(
        failuresUntilBlocked,
      ),
    ).toEqual([2, 11, Infinity, 6, 2, 6, 6]);
    expect(throttleOf({ perSource: 0, bySource }).isOpen('anna', '10.9.9.9')).toBe(true);
  });
});
