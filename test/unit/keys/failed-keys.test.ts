import { expect, it } from 'vitest';
import { LimitExceeded } from '../../../src/domain/errors.ts';
import { createFailedKeys, type Peer } from '../../../src/domain/keys/failed-keys.ts';

function limited(perMinute: number) {
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
  function tried(address: string, looksUp = true): number | null {
    try {
      failures.admit(peer(address), looksUp);
    } catch (error) {
      if (error instanceof LimitExceeded) return error.retryAfterSeconds;
      throw error;
    }
    failures.count(peer(address));
    return null;
  }
  return { state, failures, peer, tried };
}

it('refuses an address that sent too many wrong keys for the rest of the minute, and no other', () => {
  const { state, tried } = limited(3);
  expect([tried('a'), tried('a'), tried('a')]).toEqual([null, null, null]);
  state.nowMs = 999;
  expect([tried('a'), tried('b')]).toEqual([60, null]);
  state.nowMs = 60_000;
  expect([tried('a'), tried('a'), tried('a'), tried('a')]).toEqual([null, null, null, 60]);
});

it('allows one look-up a second, but no key that memory refuses', () => {
  const { state, tried } = limited(1);
  tried('a');
  state.nowMs = 1_000;
  expect([tried('a', false), tried('a'), tried('a')]).toEqual([59, null, 59]);
  state.nowMs = 2_000;
  expect([tried('a'), tried('a')]).toEqual([null, 58]);
});

it('does not count valid keys', () => {
  const { failures, peer, tried } = limited(1);
  for (let time = 0; time < 10; time += 1) failures.admit(peer('a'), true);
  expect(tried('a')).toBeNull();
});

it('has no limit at zero', () => {
  const { state, tried } = limited(0);
  for (let time = 0; time < 100; time += 1) expect(tried('a')).toBeNull();
  expect(state.networks).toBe(0);
});

it('holds a bounded number of addresses: the least recently counted is evicted', () => {
  const { state, tried } = limited(1);
  tried('first');
  for (let number = 0; number < 9_999; number += 1) tried(`10.0.${number}`);
  expect(tried('first')).toBe(60);
  tried('one more');
  expect(tried('first')).toBeNull();
  expect(state.nowMs).toBe(0);
});
