import { describe, expect, it } from 'vitest';
import { Unauthenticated } from '../../../src/domain/errors.ts';
import { aKey } from '../../support/chat.ts';
import {
  aRing,
  BLOCKED,
  FRESH_MS,
  HASH,
  identified,
  KEY,
  MASTER,
  sha256,
  STALE_MS,
  UNKNOWN,
} from '../../support/key-ring.ts';

describe('the key ring', () => {
  it('hashes a key once for requests with the same frozen headers, and each time for other requests', async () => {
    const { ring, hashed } = aRing();
    const frozen = { headers: Object.freeze({ authorization: `Bearer ${KEY}` }), socket: {} };
    const fresh = { headers: { ...frozen.headers }, socket: {} };
    hashed.length = 0;
    expect(await ring.identify(KEY, frozen)).toMatchObject({ keyHash: HASH });
    expect(await ring.identify(KEY, frozen)).toMatchObject({ keyHash: HASH });
    expect(hashed).toEqual([KEY]);
    // A request with these headers may have another key in its query.
    expect(await ring.identify(MASTER, frozen)).toMatchObject({ role: 'proxy_admin' });
    expect(await ring.identify(KEY, fresh)).toMatchObject({ keyHash: HASH });
    expect(await ring.identify(KEY, fresh)).toMatchObject({ keyHash: HASH });
    expect(hashed).toEqual([KEY, MASTER, KEY, KEY]);
  });

  it('identifies the admin key without a read of the store', () => {
    const { ring, state } = aRing();
    expect(ring.identify(MASTER)).toEqual({
      role: 'proxy_admin',
      keyHash: sha256(MASTER),
      key: null,
      teamId: null,
      userId: null,
    });
    expect(state.finds).toBe(0);
  });

  it('reads a key once for any number of waiting callers, and then answers synchronously', async () => {
    const { ring, state, stored } = aRing([aKey({ hash: HASH, teamId: 't', userId: 'u' })]);
    const callers = await Promise.all([ring.identify(KEY), ring.identify(KEY)]);
    const caller = { role: 'internal_user', keyHash: HASH, key: stored.get(HASH), teamId: 't', userId: 'u' };
    expect(callers).toEqual([caller, caller]);
    expect(ring.identify(KEY)).toEqual(caller);
    expect(state.finds).toBe(1);
  });

  it('refuses an expired key from memory', async () => {
    const { ring, state } = aRing([aKey({ hash: HASH, expiresAt: new Date('2026-01-01T00:00:03Z') })]);
    await ring.identify(KEY);
    state.nowMs = 3_000;
    expect(await identified(ring, KEY)).toEqual(
      new Unauthenticated('Expired Key. Key Expiry time 2026-01-01T00:00:03.000Z', 'expired', {
        keyName: `sk-...${HASH.slice(-4)}`,
      }),
    );
    expect(state.finds).toBe(1);
  });

  it('refuses an unknown key without showing it, and reads the store again only after 5 seconds', async () => {
    const { ring, state, stored } = aRing([]);
    expect(await identified(ring, KEY)).toEqual(UNKNOWN);
    expect(await identified(ring, KEY)).toEqual(UNKNOWN);
    expect(state.finds).toBe(1);
    stored.set(HASH, aKey({ hash: HASH }));
    state.nowMs = 5_001;
    expect(await identified(ring, KEY)).toMatchObject({ keyHash: HASH });
  });

  it.each([
    ['sk-', 'sk-...'],
    ['sk-1', 'sk-...1'],
    ['sk-12345678', 'sk-...78'],
    ['sk-1234567890123', 'sk-...0123'],
  ])('shows at most a quarter of %s in an error: %s', async (key, name) => {
    const { ring } = aRing([]);
    expect(await identified(ring, key)).toMatchObject({
      message: expect.stringContaining(`Received API Key = ${name}, `),
    });
  });

  it.each(['', 'nonsense', 'Bearer sk-x', `sk-${'x'.repeat(600)}`])('does not read the store for %j', async (key) => {
    const { ring, state } = aRing();
    expect(await identified(ring, key)).toMatchObject({ fault: 'malformed' });
    expect(state.finds).toBe(0);
  });

  it('caches at most 10,000 unknown keys', async () => {
    const { ring, state } = aRing([]);
    for (let attempt = 0; attempt <= 10_000; attempt += 1) await identified(ring, `sk-guess-${attempt}`);
    expect(state.finds).toBe(10_001);
    await identified(ring, 'sk-guess-10000');
    expect(state.finds).toBe(10_001);
    await identified(ring, 'sk-guess-0');
    expect(state.finds).toBe(10_002);
  });
});

describe('a key ring that must read its keys again', () => {
  it('reads each key once more, also a key that was unknown', async () => {
    const { ring, state, stored } = aRing();
    const otherKey = `${KEY}-other`;
    await ring.identify(KEY);
    expect(await identified(ring, otherKey)).toBeInstanceOf(Unauthenticated);
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    stored.set(sha256(otherKey), aKey({ hash: sha256(otherKey) }));
    state.nowMs = 1;
    ring.markStale();
    state.nowMs = 2;
    expect(await identified(ring, KEY)).toEqual(BLOCKED);
    expect(await identified(ring, otherKey)).toMatchObject({ keyHash: sha256(otherKey) });
    expect(await identified(ring, otherKey)).toMatchObject({ keyHash: sha256(otherKey) });
    expect(state.finds).toBe(4);
  });

  it('reads a key again when its last read began before the mark', async () => {
    const { ring, state, stored, pending } = aRing();
    // Reads of the store wait in this list.
    pending.reads = [];
    const early = ring.identify(KEY);
    await expect.poll(() => pending.reads?.length).toBe(1);
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    state.nowMs = 1;
    ring.markStale();
    state.nowMs = 2;
    pending.reads.forEach((resolve) => resolve());
    pending.reads = null;
    expect(await early).toMatchObject({ keyHash: HASH });
    expect(await identified(ring, KEY)).toEqual(BLOCKED);
  });

  it('uses its keys while the store is unavailable', async () => {
    const { ring, state } = aRing();
    await ring.identify(KEY);
    state.isUnavailable = true;
    ring.markStale();
    state.nowMs = 1;
    expect(await identified(ring, KEY)).toMatchObject({ keyHash: HASH });
    expect(state.finds).toBe(2);
  });
});

describe('a change of owners', () => {
  it('evicts the keys of these owners together, and no other keys', async () => {
    const [first, second, third] = ['sk-first', 'sk-second', 'sk-third'].map((key) => ({ key, hash: sha256(key) }));
    const rows = [
      aKey({ hash: first?.hash ?? '', teamId: 't' }),
      aKey({ hash: second?.hash ?? '', userId: 'u' }),
      aKey({ hash: third?.hash ?? '', teamId: 'u', userId: 't' }),
    ];
    const { ring, state, changes } = aRing(rows);
    const useAll = () => Promise.all(['sk-first', 'sk-second', 'sk-third'].map(async (key) => ring.identify(key)));
    await useAll();
    ring.evictOwner({ kind: 'teamId', id: 't' }, { kind: 'userId', id: 'u' });
    expect(changes).toEqual([first?.hash, second?.hash]);
    await useAll();
    expect(state.finds).toBe(5);
  });
});

describe('a key that was changed in this process', () => {
  it('is read again by the next call, and its watchers are informed', async () => {
    const { ring, stored, changes } = aRing([]);
    await identified(ring, KEY);
    stored.set(HASH, aKey({ hash: HASH }));
    ring.evict(aKey({ hash: HASH }));
    expect(await identified(ring, KEY)).toMatchObject({ keyHash: HASH });
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    ring.evict(aKey({ hash: HASH }), aKey({ hash: HASH, blocked: true }));
    expect(await identified(ring, KEY)).toEqual(BLOCKED);
    expect(changes).toEqual([HASH, HASH]);
  });

  it('is also a change of the sessions that the key opened', async () => {
    const sessionKey = 'sk-a-session-of-the-key';
    const session = { openedBy: `key:${HASH}:${HASH}`, needsMembership: false };
    const row = aKey({ hash: sha256(sessionKey), settings: { session } });
    const { ring, stored, state, changes, pending } = aRing([aKey({ hash: HASH }), row]);
    await ring.identify(sessionKey);
    stored.set(row.hash, { ...row, blocked: true });
    ring.evict(aKey({ hash: HASH }));
    expect(changes).toEqual([HASH, row.hash]);
    expect(await identified(ring, sessionKey)).toEqual(BLOCKED);
    expect(state.finds).toBe(2);
    // A read of the session that began before the change is not cached.
    stored.set(row.hash, row);
    ring.evict(row);
    pending.reads = [];
    const early = ring.identify(sessionKey);
    await expect.poll(() => pending.reads?.length).toBe(1);
    stored.set(row.hash, { ...row, blocked: true });
    ring.evict(aKey({ hash: HASH }));
    pending.reads.forEach((resolve) => resolve());
    pending.reads = null;
    expect(await early).toMatchObject({ keyHash: row.hash });
    expect(await identified(ring, sessionKey)).toEqual(BLOCKED);
  });

  it('is not replaced by a read that began before the change', async () => {
    const { ring, stored, pending } = aRing();
    pending.reads = [];
    const early = ring.identify(KEY);
    await expect.poll(() => pending.reads?.length).toBe(1);
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    ring.evict(aKey({ hash: HASH }));
    pending.reads.forEach((resolve) => resolve());
    pending.reads = null;
    expect(await early).toMatchObject({ keyHash: HASH });
    expect(await identified(ring, KEY)).toEqual(BLOCKED);
  });

  it('is not replaced by a refresh that began before the change', async () => {
    const { ring, stored, pending } = aRing();
    await ring.identify(KEY);
    pending.reads = [];
    const refreshed = ring.refresh();
    await expect.poll(() => pending.reads?.length).toBe(1);
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    ring.evict(aKey({ hash: HASH }));
    pending.reads.forEach((resolve) => resolve());
    pending.reads = null;
    await refreshed;
    expect(await identified(ring, KEY)).toEqual(BLOCKED);
  });

  it('is found by its old secret until the end of the grace period, and by the new secret immediately', async () => {
    const nextHash = sha256('sk-the-next-secret');
    const until = new Date(Date.UTC(2026, 0, 1) + 2_000);
    const row = aKey({ hash: HASH, secretHash: nextHash, previousSecret: { hash: HASH, until } });
    const { ring, state, stored } = aRing([row]);
    stored.set(HASH, row);
    expect(await identified(ring, KEY)).toMatchObject({ keyHash: HASH });
    expect(await identified(ring, 'sk-the-next-secret')).toMatchObject({ keyHash: HASH });
    state.nowMs = 2_000;
    expect(await identified(ring, KEY)).toMatchObject({ fault: 'unknown' });
    expect(await identified(ring, 'sk-the-next-secret')).toMatchObject({ keyHash: HASH });
  });
});

describe('a key that was changed elsewhere', () => {
  it('is used for 4 seconds without a read, and read before later uses', async () => {
    const { ring, state, stored } = aRing();
    await ring.identify(KEY);
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    state.nowMs = FRESH_MS;
    expect(ring.identify(KEY)).toMatchObject({ keyHash: HASH });
    state.nowMs = STALE_MS;
    expect(await identified(ring, KEY)).toEqual(BLOCKED);
    expect(state.finds).toBe(2);
  });

  it('is read again after any idle time', async () => {
    const { ring, state, stored } = aRing();
    await ring.identify(KEY);
    stored.delete(HASH);
    state.nowMs = 86_400_000;
    expect(await identified(ring, KEY)).toEqual(UNKNOWN);
  });

  it('is detected by the refresh of keys in use, which reads them in one statement', async () => {
    const OTHER = 'sk-another-key-of-ours-5678';
    const rows = [aKey({ hash: HASH }), aKey({ hash: sha256(OTHER) })];
    const { ring, state, stored, changes } = aRing(rows);
    await Promise.all([ring.identify(KEY), ring.identify(OTHER)]);
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    state.nowMs = 1_500;
    await ring.refresh();
    expect([state.batches.map((batch) => batch.length), changes]).toEqual([[2], [HASH]]);
    expect(await identified(ring, KEY)).toEqual(BLOCKED);
    // A key that is read at 1.5 s is used until 5.5 s.
    state.nowMs = 1_500 + FRESH_MS;
    expect(ring.identify(OTHER)).toMatchObject({ keyHash: sha256(OTHER) });
    expect(state.finds).toBe(2);
  });

  it('is read by one refresh after a use, and by no further refresh until the next use', async () => {
    const { ring, state } = aRing();
    await ring.identify(KEY);
    await ring.refresh();
    await ring.refresh();
    await ring.refresh();
    expect(state.batches).toEqual([[HASH]]);
  });

  it.each([
    ['another role', { role: 'proxy_admin' }],
    ['another team', { teamId: 't' }],
    ['an expiry', { expiresAt: new Date(0) }],
  ] as const)('is reported to its watchers: %s', async (_what, overrides) => {
    const { ring, stored, changes } = aRing();
    await ring.identify(KEY);
    await ring.refresh();
    expect(changes).toEqual([]);
    await ring.identify(KEY);
    stored.set(HASH, aKey({ hash: HASH, ...overrides }));
    await ring.refresh();
    expect(changes).toEqual([HASH]);
  });

  it('is reported to its watchers when it is deleted, and refused', async () => {
    const { ring, stored, changes } = aRing();
    await ring.identify(KEY);
    stored.delete(HASH);
    await ring.refresh();
    expect(changes).toEqual([HASH]);
    expect(await identified(ring, KEY)).toEqual(UNKNOWN);
  });
});

describe('the current state of a caller', () => {
  it('is the administrator for the admin key, without a read of the store', async () => {
    const { ring, state } = aRing();
    const master = await ring.identify(MASTER);
    expect([ring.current(master), state.finds]).toEqual([master, 0]);
  });

  it('is the key in the store', async () => {
    const { ring, state, stored } = aRing();
    const caller = await ring.identify(KEY);
    expect(ring.current(caller)).toEqual(caller);
    stored.set(HASH, aKey({ hash: HASH, teamId: 'new' }));
    ring.evict(aKey({ hash: HASH }));
    expect(await ring.current(caller)).toMatchObject({ teamId: 'new' });
    stored.set(HASH, aKey({ hash: HASH, blocked: true }));
    state.nowMs += STALE_MS;
    await expect(async () => ring.current(caller)).rejects.toThrow(BLOCKED);
  });

  it('is refused when the key has expired or was deleted', async () => {
    const expiresAt = new Date(Date.UTC(2026, 0, 1) + 3_000);
    const { ring, state, stored } = aRing([aKey({ hash: HASH, expiresAt })]);
    const caller = await ring.identify(KEY);
    state.nowMs += 3_000;
    expect(() => ring.current(caller)).toThrow('Expired Key.');
    stored.delete(HASH);
    ring.evict(aKey({ hash: HASH }));
    await expect(async () => ring.current(caller)).rejects.toThrow(Unauthenticated);
  });
});
