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

it('the cache of keys drops the sessions that a key opened, and no others', () => {
  const keys = createKnownKeys(4);
  const times = { readMs: 0, nowMs: 0 };
  const session = (hash: string, openedBy: string) =>
    keys.set(hash, aKey({ hash, settings: { session: { openedBy, needsMembership: false } } }), times);
  session('one', 'key:a:secret');
  session('two', 'key:a:secret');
  session('of b', 'key:b:secret');
  session('of an administrator', 'admin:x');
  // A session that is read again, deleted or evicted leaves the list.
  session('two', 'key:a:secret');
  keys.delete('of b');
  keys.set('c', aKey({ hash: 'c' }), times);
  keys.set('d', aKey({ hash: 'd' }), times);
  expect([keys.dropSessionsOf('b'), keys.dropSessionsOf('a'), keys.dropSessionsOf('a')]).toEqual([[], ['two'], []]);
  const left = ['one', 'two', 'of an administrator', 'c', 'd'].filter((hash) => keys.use(hash, 0) !== undefined);
  expect(left).toEqual(['of an administrator', 'c', 'd']);
});
