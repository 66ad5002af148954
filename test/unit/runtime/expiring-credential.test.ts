import { describe, expect, it } from 'vitest';
import {
  createCredentialCache,
  type ExpiringCredential,
} from '../../../src/runtime/credentials/expiring-credential.ts';

const MINUTE_MS = 60_000;

/** An issuer whose answers the test gives, and a clock that the test sets. */
function issuer() {
  const requests: PromiseWithResolvers<ExpiringCredential<string>>[] = [];
  const clock = { now: 0 };
  const credential = createCredentialCache(
    () => {
      const answer = Promise.withResolvers<ExpiringCredential<string>>();
      requests.push(answer);
      return answer.promise;
    },
    () => clock.now,
  );
  return {
    credential,
    clock,
    count: () => requests.length,
    issues: (value: string, until: number) => requests.at(-1)?.resolve({ value, until }),
    refuses: (message: string) => requests.at(-1)?.reject(new Error(message)),
  };
}

/** An issuer that has issued `a` with a lifetime of an hour. */
async function issuerOfA() {
  const issuerWithA = issuer();
  const pending = issuerWithA.credential();
  issuerWithA.issues('a', 60 * MINUTE_MS);
  expect(await pending).toBe('a');
  return issuerWithA;
}

describe('a credential with an expiry', () => {
  it('is requested once for all waiting callers, and then cached', async () => {
    const { credential, count, issues } = issuer();
    const waiting = [credential(), credential(), credential()];
    issues('a', 60 * MINUTE_MS);
    expect(await Promise.all([...waiting, credential()])).toEqual(['a', 'a', 'a', 'a']);
    expect(count()).toBe(1);
  });

  it('is renewed in the background before it expires', async () => {
    const { credential, clock, count, issues } = await issuerOfA();
    clock.now = 55 * MINUTE_MS - 1;
    expect([await credential(), count()]).toEqual(['a', 1]);
    clock.now = 55 * MINUTE_MS;
    expect([await credential(), await credential(), count()]).toEqual(['a', 'a', 2]);
    issues('b', 120 * MINUTE_MS);
    await new Promise(setImmediate);
    expect([await credential(), count()]).toEqual(['b', 2]);
  });

  it('is not used in its last 30 seconds, so that callers wait for the renewal', async () => {
    const { credential, clock, issues } = await issuerOfA();
    clock.now = 59.5 * MINUTE_MS;
    const waiting = credential();
    issues('b', 120 * MINUTE_MS);
    expect(await waiting).toBe('b');
  });

  it('stays in use after a failed renewal, which is retried after 5 seconds', async () => {
    const { credential, clock, count, refuses, issues } = await issuerOfA();
    clock.now = 56 * MINUTE_MS;
    expect(await credential()).toBe('a');
    refuses('no');
    await new Promise(setImmediate);
    expect([await credential(), count()]).toEqual(['a', 2]);
    clock.now += 5_000;
    expect([await credential(), count()]).toEqual(['a', 3]);
    issues('b', 120 * MINUTE_MS);
    await new Promise(setImmediate);
    expect(await credential()).toBe('b');
  });

  it('is not requested by every call where the issuer returns the same expiry', async () => {
    const { credential, clock, count, issues } = await issuerOfA();
    clock.now = 56 * MINUTE_MS;
    await credential();
    issues('a', 60 * MINUTE_MS);
    await new Promise(setImmediate);
    expect([await credential(), await credential(), count()]).toEqual(['a', 'a', 2]);
    clock.now += 5_000;
    expect([await credential(), count()]).toEqual(['a', 3]);
  });

  it('fails for all waiting callers, and for calls within 5 seconds without another request', async () => {
    const { credential, clock, count, refuses, issues } = issuer();
    const waiting = [credential(), credential()];
    refuses('no');
    await expect(waiting[0]).rejects.toThrow('no');
    await expect(waiting[1]).rejects.toThrow('no');
    await expect(credential()).rejects.toThrow('no');
    expect(count()).toBe(1);
    clock.now = 5_000;
    const later = credential();
    issues('a', 60 * MINUTE_MS);
    expect(await later).toBe('a');
  });
});
