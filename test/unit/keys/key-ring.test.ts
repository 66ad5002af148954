import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { Unauthenticated, Unavailable } from '../../../src/domain/errors.ts';
import type { VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { createKeyRing } from '../../../src/gateway/create-key-ring.ts';
import { aKey } from '../../support/chat.ts';

const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex');
const KEY = 'sk-a-key-of-ours-1234';
const MASTER = 'sk-master-key-of-the-house';

/** A ring over a store and a clock the test holds. */
function aRing(rows: readonly VirtualKey[] = [aKey({ hash: sha256(KEY) })]) {
  const stored = new Map(rows.map((row) => [row.hash, row]));
  const state = { finds: 0, nowMs: 0, away: false };
  const clock: Clock = {
    now: () => new Date(Date.UTC(2026, 0, 1) + state.nowMs),
    monotonicMs: () => state.nowMs,
  };
  const ring = createKeyRing({
    masterKey: new Secret(MASTER),
    store: {
      add: () => Promise.resolve(),
      findMany: () => Promise.resolve([]),
      async find(hash) {
        state.finds += 1;
        if (state.away) throw new Error('the store is away');
        return stored.get(hash) ?? null;
      },
    },
    smith: { token: () => 'token', make: () => KEY, hash: sha256 },
    clock,
  });
  return { ring, state, stored };
}

/** What identifying a key gives, or the failure it throws, now or later. */
async function identified(ring: ReturnType<typeof aRing>['ring'], key: string) {
  try {
    return await ring.identify(key);
  } catch (error) {
    return error;
  }
}

describe('the key ring', () => {
  it('knows the admin key without asking anybody', () => {
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

  it('asks the store once for a key, whoever asks at the same time, and then answers at once', async () => {
    const { ring, state, stored } = aRing([aKey({ hash: sha256(KEY), teamId: 't', userId: 'u' })]);
    const callers = await Promise.all([ring.identify(KEY), ring.identify(KEY)]);
    const caller = {
      role: 'internal_user',
      keyHash: sha256(KEY),
      key: stored.get(sha256(KEY)),
      teamId: 't',
      userId: 'u',
    };
    expect(callers).toEqual([caller, caller]);
    expect(ring.identify(KEY)).toEqual(caller);
    expect(state.finds).toBe(1);
  });

  it('notices within a minute or so that a key was blocked elsewhere', async () => {
    const { ring, state, stored } = aRing();
    await ring.identify(KEY);
    stored.set(sha256(KEY), aKey({ hash: sha256(KEY), blocked: true }));
    state.nowMs = 60_001;
    // Believed while it is asked again, so that nobody waits.
    expect(ring.identify(KEY)).toMatchObject({ keyHash: sha256(KEY) });
    await expect
      .poll(() => identified(ring, KEY))
      .toEqual(new Unauthenticated("Key is blocked. Update via `/key/unblock` if you're an admin.", 'blocked'));
  });

  it('believes a key it knows while the store is away, and says so for one it does not', async () => {
    const { ring, state } = aRing();
    await ring.identify(KEY);
    state.away = true;
    state.nowMs = 600_000;
    expect(ring.identify(KEY)).toMatchObject({ keyHash: sha256(KEY) });
    expect(await identified(ring, 'sk-never-seen-before')).toBeInstanceOf(Unavailable);
  });

  it('refuses a key past its time from memory', async () => {
    const { ring, state } = aRing([aKey({ hash: sha256(KEY), expiresAt: new Date('2026-01-01T00:00:10Z') })]);
    await ring.identify(KEY);
    state.nowMs = 10_000;
    expect(await identified(ring, KEY)).toEqual(
      new Unauthenticated('Expired Key. Key Expiry time 2026-01-01T00:00:10.000Z', 'expired'),
    );
    expect(state.finds).toBe(1);
  });

  it('refuses an unknown key without showing it, and asks the store again only after a while', async () => {
    const { ring, state, stored } = aRing([]);
    const refused = new Unauthenticated(
      `Invalid proxy server token passed. Received API Key = sk-...1234, Key Hash (Token) =${sha256(KEY)}. Unable to find token in cache or \`LiteLLM_VerificationTokenTable\``,
      'unknown',
    );
    expect(await identified(ring, KEY)).toEqual(refused);
    expect(await identified(ring, KEY)).toEqual(refused);
    expect(state.finds).toBe(1);
    stored.set(sha256(KEY), aKey({ hash: sha256(KEY) }));
    state.nowMs = 5_001;
    expect(await identified(ring, KEY)).toMatchObject({ keyHash: sha256(KEY) });
  });

  it('reads a forgotten key afresh', async () => {
    const { ring, stored } = aRing([]);
    await identified(ring, KEY);
    stored.set(sha256(KEY), aKey({ hash: sha256(KEY) }));
    ring.forget(sha256(KEY));
    expect(await identified(ring, KEY)).toMatchObject({ keyHash: sha256(KEY) });
  });

  it.each(['', 'nonsense', 'Bearer sk-x', `sk-${'x'.repeat(600)}`])('asks nobody about %j', async (key) => {
    const { ring, state } = aRing();
    expect(await identified(ring, key)).toMatchObject({ fault: 'malformed' });
    expect(state.finds).toBe(0);
  });

  it('holds a bounded number of unknown keys', async () => {
    const { ring, state } = aRing([]);
    for (let attempt = 0; attempt <= 10_000; attempt += 1) await identified(ring, `sk-guess-${attempt}`);
    expect(state.finds).toBe(10_001);
    await identified(ring, 'sk-guess-10000');
    expect(state.finds).toBe(10_001);
    await identified(ring, 'sk-guess-0');
    expect(state.finds).toBe(10_002);
  });
});

describe('who a caller is by now', () => {
  const later = 61_000;

  it('is the admin for the admin key, without asking anybody', async () => {
    const { ring, state } = aRing();
    const master = await ring.identify(MASTER);
    expect([ring.current(master), state.finds]).toEqual([master, 0]);
  });

  it('is what the store says of the key, once memory has asked it again', async () => {
    const hash = sha256(KEY);
    const { ring, state, stored } = aRing([aKey({ hash })]);
    const caller = await ring.identify(KEY);
    expect(ring.current(caller)).toEqual(caller);
    stored.set(hash, aKey({ hash, teamId: 'new' }));
    ring.forget(hash);
    expect(await ring.current(caller)).toMatchObject({ teamId: 'new' });
    stored.set(hash, aKey({ hash, blocked: true }));
    state.nowMs += later;
    // Believed once more while it is asked after.
    expect(ring.current(caller)).toMatchObject({ teamId: 'new' });
    await Promise.resolve();
    await Promise.resolve();
    expect(() => ring.current(caller)).toThrow(Unauthenticated);
  });

  it('is nobody when the key has expired or is gone', async () => {
    const hash = sha256(KEY);
    const { ring, state, stored } = aRing([aKey({ hash, expiresAt: new Date(Date.UTC(2026, 0, 1) + 5_000) })]);
    const caller = await ring.identify(KEY);
    state.nowMs += 5_000;
    expect(() => ring.current(caller)).toThrow('Expired Key.');
    stored.delete(hash);
    ring.forget(hash);
    await expect(async () => ring.current(caller)).rejects.toThrow(Unauthenticated);
  });
});
