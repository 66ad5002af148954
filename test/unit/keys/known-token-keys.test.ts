import { expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import type { TokenKey } from '../../../src/domain/identity/token-key.ts';
import { unstoredKey } from '../../../src/domain/keys/unstored-key.ts';
import { createKnownTokenKeys } from '../../../src/gateway/keys/known-token-keys.ts';

const aKey = (hash: string, teamId: string | null, organizationId?: string) => ({
  ...unstoredKey({ hash, name: 'jwt', teamId, now: new Date(0) }),
  settings: organizationId === undefined ? {} : { organizationId },
});

function aStore() {
  const added: (readonly TokenKey[])[] = [];
  return {
    added,
    fails: false,
    add(keys: readonly TokenKey[]): Promise<void> {
      if (this.fails) return Promise.reject(new Unavailable('The store does not answer.'));
      added.push(keys);
      return Promise.resolve();
    },
  };
}

const row = (hash: string, owners: Partial<TokenKey>): TokenKey => ({
  hash,
  teamId: null,
  userId: null,
  organizationId: null,
  ...owners,
});

it('stores each key with an owner once, unless it is refused; the organization only without a team', async () => {
  const store = aStore();
  const known = createKnownTokenKeys(store);
  const keys = [aKey('a', 'team', 'org'), aKey('b', null, 'org'), aKey('c', null)];
  await known.store([...keys, { ...aKey('d', 'team'), refusal: () => new Unavailable('refused') }]);
  await known.store(keys);
  expect(store.added).toEqual([[row('a', { teamId: 'team' }), row('b', { organizationId: 'org' })]]);
});

it('stores a key again after a failure, and after its hash was evicted', async () => {
  const store = aStore();
  const known = createKnownTokenKeys(store, 2);
  store.fails = true;
  await expect(known.store([aKey('a', 'team')])).rejects.toThrow(Unavailable);
  store.fails = false;
  for (const hash of ['a', 'b', 'c', 'b', 'a']) await known.store([aKey(hash, 'team')]);
  expect(store.added.flat().map(({ hash }) => hash)).toEqual(['a', 'b', 'c', 'a']);
});
