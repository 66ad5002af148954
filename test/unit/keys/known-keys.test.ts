import { expect, it } from 'vitest';
import { createKnownKeys } from '../../../src/gateway/keys/known-keys.ts';
import { aKey } from '../../support/chat.ts';

const MINUTE_MS = 60_000;

it('the cache of keys evicts the least recently used key', () => {
  const keys = createKnownKeys(3);
  for (const [ms, hash] of ['a', 'b', 'c'].entries()) keys.set(hash, aKey({ hash }), { readMs: ms, nowMs: ms });
  // The oldest key is in use, so it must not be evicted. A use moves a key at most once a second.
  keys.use('a', MINUTE_MS);
  keys.set('d', aKey({ hash: 'd' }), { readMs: MINUTE_MS, nowMs: MINUTE_MS });
  expect(['a', 'b', 'c', 'd'].map((hash) => keys.use(hash, MINUTE_MS)?.key.hash)).toEqual(['a', undefined, 'c', 'd']);
});

it('the cache of keys returns each key in use once, and an older read does not replace a newer one', () => {
  const keys = createKnownKeys();
  keys.set('a', aKey({ hash: 'a' }), { readMs: 0, nowMs: 0 });
  const [entry, ...others] = keys.takeUsed();
  expect([entry?.secretHash, others, keys.takeUsed()]).toEqual(['a', [], []]);
  keys.use('a', 1);
  keys.use('a', 2);
  expect(keys.takeUsed().length).toBe(1);
  keys.set('a', aKey({ hash: 'a', blocked: true }), { readMs: 5, nowMs: 5 });
  expect(entry && keys.renew(entry, aKey({ hash: 'a' }), 4)).toBe(false);
  expect(entry && keys.drop(entry)).toBe(false);
  expect(keys.use('a', 6)?.key.blocked).toBe(true);
});
