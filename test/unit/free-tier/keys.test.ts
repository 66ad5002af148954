import { describe, expect, it } from 'vitest';
import { admin, anyone } from '../../../resolvers/operation/access.ts';
import { operation } from '../../../resolvers/operation/operation.ts';
import type { Platform, Scope } from '../../../resolvers/operation/scope.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { Unauthenticated, Unavailable } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { PaidKeys } from '../../../src/domain/free-tier/paid-keys.ts';
import type { VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { createKeyRing } from '../../../src/gateway/keys/key-ring.ts';
import { gatewayPaidKeys } from '../../../src/gateway/keys/paid-keys.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { aClient, aFreeTier } from '../../support/free-tier.ts';
import { UNLIMITED } from '../../support/unlimited-key-ring.ts';
import { aKey } from '../../ports/samples.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');

function aClock() {
  let ticks = 0;
  const pass = (ms: number): void => {
    ticks += ms;
  };
  return { now: () => NOW, monotonicMs: () => ticks, pass };
}

/** The gateway's keys over a store that counts its reads. */
function someKeys(...rows: readonly VirtualKey[]) {
  const store = {
    lookUps: 0,
    isUnavailable: false,
    findBySecrets: async () => new Map(),
    async find(hash: string) {
      store.lookUps += 1;
      if (store.isUnavailable) throw new Error('cut');
      return rows.find((row) => row.hash === hash) ?? null;
    },
  };
  const clock = aClock();
  const keyRing = createKeyRing({
    masterKey: new Secret('sk-the-admin'),
    store,
    generator: keyGenerator,
    clock,
    ...UNLIMITED,
  });
  return { store, clock, paidKeys: gatewayPaidKeys(keyRing) };
}

const row = (key: string, overrides: Partial<VirtualKey> = {}): VirtualKey =>
  aKey({ hash: keyGenerator.hash(key), expiresAt: null, blocked: false, ...overrides });

describe('the keys of the gateway', () => {
  it.each<[string, boolean, string]>([
    ['the admin key', true, 'sk-the-admin'],
    ['a virtual key', true, 'sk-virtual'],
    ['an expired key', false, 'sk-expired'],
    ['a blocked key', false, 'sk-blocked'],
    ['an unknown key', false, 'sk-unknown'],
    ['a malformed key', false, 'Basic dXNlcjpwYXNz'],
    ['a very long key', false, `sk-${'x'.repeat(10_000)}`],
  ])('are checked: %s is valid: %s', async (_what, isValid, key) => {
    const { paidKeys } = someKeys(
      row('sk-virtual'),
      row('sk-expired', { expiresAt: NOW }),
      row('sk-blocked', { blocked: true }),
    );
    // The first result is from the store, the second from memory.
    expect([await paidKeys.holds(key), await paidKeys.holds(key)]).toEqual([isValid, isValid]);
  });

  it('are in memory after the first look-up', async () => {
    const { paidKeys, store } = someKeys(row('sk-virtual'));
    expect(paidKeys.holds('sk-the-admin')).toBe(true);
    await paidKeys.holds('sk-virtual');
    await paidKeys.holds('sk-unknown');
    expect([paidKeys.holds('sk-virtual'), paidKeys.holds('sk-unknown'), store.lookUps]).toEqual([true, false, 2]);
  });

  it('cannot be checked while their store is unavailable', async () => {
    const { paidKeys, store } = someKeys();
    store.isUnavailable = true;
    await expect(paidKeys.holds('sk-virtual')).rejects.toThrow(Unavailable);
  });
});

describe('a call with a key', () => {
  it('is not counted when the key is valid, from the store and from memory', async () => {
    const { paidKeys } = someKeys(row('sk-virtual'));
    const tier = aFreeTier({ paidKeys, limit: 0 });
    for (const key of ['sk-virtual', 'sk-virtual', 'sk-the-admin']) await tier.charge(aClient('192.0.2.1', key));
    expect((await tier.usageOf(aClient())).requestsToday).toBe(0);
  });

  it('is counted when the key is invalid, and a refusal mentions the invalid key', async () => {
    const { paidKeys } = someKeys();
    const tier = aFreeTier({ paidKeys, limit: 2 });
    const call = async (key: string | null): Promise<void> => tier.charge(aClient('192.0.2.1', key));
    await call('sk-unknown');
    await call('sk-unknown');
    await expect(call('sk-unknown')).rejects.toThrow('The key that was sent is not accepted.');
    await expect(call('sk-never-seen')).rejects.toThrow('The key that was sent is not accepted.');
    await expect(call(null)).rejects.toThrow(/00:00 UTC\. Send a key/);
  });

  it('causes no look-up for the rest of the minute after too many wrong keys from its address', async () => {
    const { paidKeys, store, clock } = someKeys(row('sk-virtual'));
    const tier = aFreeTier({ paidKeys, clock });
    for (let guess = 0; guess < 1_000; guess += 1) await tier.charge(aClient('192.0.2.1', `sk-guess-${guess}`));
    // 20 unknown keys of a network are looked up in a minute.
    expect(store.lookUps).toBe(20);
    // A key from another network is looked up, and a key in the next minute.
    await tier.charge(aClient('192.0.2.2', 'sk-virtual'));
    clock.pass(60_000);
    await tier.charge(aClient('192.0.2.1', 'sk-guess-1000'));
    expect(store.lookUps).toBe(22);
  });
});

describe('an operation with an allowance', () => {
  const ask = operation({ name: 'test: ask', access: anyone, allowance: 'catalog', run: () => 'answer' });
  const askFree = operation({ name: 'test: ask free', access: anyone, run: () => 'answer' });
  const adminOnly = operation({ name: 'test: rule', access: admin, allowance: 'catalog', run: () => 'answer' });
  const someone: Caller = { role: 'internal_user', keyHash: 'k', key: null, teamId: null, userId: null };

  function aRequest(caller: Caller | null, options: { limit?: number; paidKeys?: PaidKeys } = {}) {
    const freeTier = aFreeTier(options);
    // These operations use nothing else of the platform.
    const scope = { platform: { freeTier } as unknown as Platform, caller, client: aClient() } as Scope;
    return { scope, used: async () => (await freeTier.usageOf(aClient())).requestsToday };
  }

  it('charges an anonymous request once, for any number of operations, and no other request', async () => {
    const { scope, used } = aRequest(null);
    expect(askFree(scope, undefined)).toBe('answer');
    expect(await used()).toBe(0);
    expect(await Promise.all([ask(scope, undefined), ask(scope, undefined)])).toEqual(['answer', 'answer']);
    expect([await ask(scope, undefined), await used()]).toEqual(['answer', 1]);
    const known = aRequest(someone, { limit: 0 });
    expect([ask(known.scope, undefined), await known.used()]).toEqual(['answer', 0]);
  });

  it('is synchronous when a call is already reserved', async () => {
    const { scope } = aRequest(null);
    await ask(scope, undefined);
    expect(ask({ ...scope, client: aClient() }, undefined)).toBe('answer');
  });

  it('checks access before it charges', async () => {
    const { scope, used } = aRequest(null);
    expect(() => adminOnly(scope, undefined)).toThrow(Unauthenticated);
    expect(await used()).toBe(0);
  });
});
