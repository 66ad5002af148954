import { expect, it } from 'vitest';
import { LimitExceeded } from '../../../src/domain/errors.ts';
import { createFailedKeys, type Peer } from '../../../src/domain/keys/failed-keys.ts';

function someFailedKeys(perMinute: number) {
  const state = { nowMs: 0, networks: 0 };
  const failures = createFailedKeys({
    perMinute,
    networkOf({ socket }) {
      state.networks += 1;
      return socket.remoteAddress ?? '';
    },
    clock: { now: () => new Date(0), monotonicMs: () => state.nowMs },
  });
  const peer = (remoteAddress: string): Peer => ({ headers: {}, socket: { remoteAddress } });
  /** Tries a wrong key. Returns the seconds until a retry when it is refused without a look-up, else null. */
  function tryKey(address: string, looksUp = true): number | null {
    try {
      failures.admit(peer(address), { looksUp });
    } catch (error) {
      if (error instanceof LimitExceeded) return error.retryAfterSeconds;
      throw error;
    }
    failures.count(peer(address));
    return null;
  }
  return { state, failures, peer, tryKey };
}

it('a network that sent too many wrong keys is refused for the rest of the minute, and no other network', () => {
  const { state, tryKey } = someFailedKeys(3);
  expect([tryKey('a'), tryKey('a'), tryKey('a')]).toEqual([null, null, null]);
  state.nowMs = 999;
  expect([tryKey('a'), tryKey('b')]).toEqual([60, null]);
  state.nowMs = 60_000;
  expect([tryKey('a'), tryKey('a'), tryKey('a'), tryKey('a')]).toEqual([null, null, null, 60]);
});

it('above the limit, one key that needs a look-up is admitted each second, and no other key', () => {
  const { state, tryKey } = someFailedKeys(1);
  tryKey('a');
  state.nowMs = 1_000;
  expect([tryKey('a', false), tryKey('a'), tryKey('a')]).toEqual([59, null, 59]);
  state.nowMs = 2_000;
  expect([tryKey('a'), tryKey('a')]).toEqual([null, 58]);
});

it('admitted keys are not counted unless they are wrong', () => {
  const { failures, peer, tryKey } = someFailedKeys(1);
  for (let attempt = 0; attempt < 10; attempt += 1) failures.admit(peer('a'), { looksUp: true });
  expect(tryKey('a')).toBeNull();
});

it('a limit of zero means no limit', () => {
  const { state, tryKey } = someFailedKeys(0);
  for (let attempt = 0; attempt < 100; attempt += 1) expect(tryKey('a')).toBeNull();
  expect(state.networks).toBe(0);
});

it('at most 10,000 networks are counted, and the least recently counted is evicted', () => {
  const { state, tryKey } = someFailedKeys(1);
  tryKey('first');
  for (let number = 0; number < 9_999; number += 1) tryKey(`10.0.${number}`);
  expect(tryKey('first')).toBe(60);
  tryKey('one more');
  expect(tryKey('first')).toBeNull();
  expect(state.nowMs).toBe(0);
});
