import { describe, expect, it } from 'vitest';
import { createLease, type Lent } from '../../../src/runtime/credentials/expiring-credential.ts';

const MINUTE = 60_000;

/** An issuer of credentials that the test answers for, and a clock that the test sets. */
function lender() {
  const asked: PromiseWithResolvers<Lent<string>>[] = [];
  const clock = { now: 0 };
  const lease = createLease(
    () => {
      const answer = Promise.withResolvers<Lent<string>>();
      asked.push(answer);
      return answer.promise;
    },
    () => clock.now,
  );
  return {
    lease,
    clock,
    times: () => asked.length,
    lends: (value: string, until: number) => asked.at(-1)?.resolve({ value, until }),
    refuses: (message: string) => asked.at(-1)?.reject(new Error(message)),
  };
}

/** An issuer that has issued `a` for an hour. */
async function lent() {
  const one = lender();
  const first = one.lease();
  one.lends('a', 60 * MINUTE);
  expect(await first).toBe('a');
  return one;
}

describe('a credential with an expiry', () => {
  it('is requested once for all waiting callers, and then kept', async () => {
    const { lease, times, lends } = lender();
    const waiting = [lease(), lease(), lease()];
    lends('a', 60 * MINUTE);
    expect(await Promise.all([...waiting, lease()])).toEqual(['a', 'a', 'a', 'a']);
    expect(times()).toBe(1);
  });

  it('is renewed before it expires, without a waiting caller', async () => {
    const { lease, clock, times, lends } = await lent();
    clock.now = 55 * MINUTE - 1;
    expect([await lease(), times()]).toEqual(['a', 1]);
    clock.now = 55 * MINUTE;
    expect([await lease(), await lease(), times()]).toEqual(['a', 'a', 2]);
    lends('b', 120 * MINUTE);
    await new Promise(setImmediate);
    expect([await lease(), times()]).toEqual(['b', 2]);
  });

  it('is renewed with waiting callers shortly before it ends', async () => {
    const { lease, clock, lends } = await lent();
    clock.now = 59.5 * MINUTE;
    const waiting = lease();
    lends('b', 120 * MINUTE);
    expect(await waiting).toBe('b');
  });

  it('stays in use while its renewal is refused, and the issuer is not called for a while', async () => {
    const { lease, clock, times, refuses, lends } = await lent();
    clock.now = 56 * MINUTE;
    expect(await lease()).toBe('a');
    refuses('no');
    await new Promise(setImmediate);
    expect([await lease(), times()]).toEqual(['a', 2]);
    clock.now += 5_000;
    expect([await lease(), times()]).toEqual(['a', 3]);
    lends('b', 120 * MINUTE);
    await new Promise(setImmediate);
    expect(await lease()).toBe('b');
  });

  it('is not requested by every call where the issuer has none with a longer lifetime', async () => {
    const { lease, clock, times, lends } = await lent();
    clock.now = 56 * MINUTE;
    await lease();
    lends('a', 60 * MINUTE);
    await new Promise(setImmediate);
    expect([await lease(), await lease(), times()]).toEqual(['a', 'a', 2]);
    clock.now += 5_000;
    expect([await lease(), times()]).toEqual(['a', 3]);
  });

  it('is refused for all waiting callers, and for those soon after, without another request', async () => {
    const { lease, clock, times, refuses, lends } = lender();
    const waiting = [lease(), lease()];
    refuses('no');
    await expect(waiting[0]).rejects.toThrow('no');
    await expect(waiting[1]).rejects.toThrow('no');
    await expect(lease()).rejects.toThrow('no');
    expect(times()).toBe(1);
    clock.now = 5_000;
    const later = lease();
    lends('a', 60 * MINUTE);
    expect(await later).toBe('a');
  });
});
