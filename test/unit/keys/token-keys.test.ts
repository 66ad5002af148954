import { expect, it } from 'vitest';
import { Conflict } from '../../../src/domain/errors.ts';
import type { KnownToken } from '../../../src/domain/identity/verified-tokens.ts';
import type { User } from '../../../src/domain/users/user.ts';
import { createTokenKeys } from '../../../src/gateway/keys/token-keys.ts';
import { DEFAULT_RULES } from '../../../src/runtime/settings/token-rules-kind.ts';

/** A token of a user, as the claims of its issuer name it. */
const tokenOf = (userId: string, email: string): KnownToken => ({
  identity: {
    issuer: null,
    subject: userId,
    userId,
    email,
    teamIds: [],
    organizationId: null,
    endUserId: null,
    keyValue: null,
    refusal: null,
    role: null,
    models: null,
    routes: [],
    expiresAt: new Date(60_000),
  },
  chosenTeam: null,
});

it('users that several tokens create wait once for earlier spend, and two users with one email are one', async () => {
  const tokens = new Map([
    ['t1', tokenOf('ann', 'ann@example.com')],
    ['t2', tokenOf('bob', 'bob@example.com')],
    ['t3', tokenOf('bob', 'later@example.com')],
    ['t4', tokenOf('also-ann', 'ann@example.com')],
  ]);
  const reads: (readonly string[])[] = [];
  const stored: User[] = [];
  const options = {
    rules: { ...DEFAULT_RULES, createsUsers: true },
    tokens: { use: (hash: string) => tokens.get(hash) },
    keys: { findBySecrets: async () => new Map(), withOwners: async (keys: unknown) => keys },
    knownKeys: { store: async () => undefined },
    generator: { hash: (text: string) => text },
    clock: { now: () => new Date(0) },
    earlierSpend: {
      async totalsOfEarlierOwners(_kind: string, ids: readonly string[]) {
        reads.push(ids);
        return new Map([['bob', 7n]]);
      },
    },
    stores: {
      users: {
        find: async (id: string) => stored.find((user) => user.id === id) ?? null,
        findMany: async () => [],
        all: async ({ emails = [] }: { readonly emails?: readonly (string | null)[] }) =>
          stored.filter(({ emailKey }) => emails.includes(emailKey)),
        async add(user: User) {
          if (stored.some(({ emailKey }) => emailKey === user.emailKey)) throw new Conflict('taken');
          stored.push(user);
        },
      },
    },
  } as unknown as Parameters<typeof createTokenKeys>[0];
  const found = await createTokenKeys(options).findBySecrets([...tokens.keys()]);
  expect(reads).toEqual([['ann', 'bob', 'also-ann']]);
  expect(stored.map(({ id, email, spentBefore }) => [id, email, spentBefore])).toEqual([
    ['ann', 'ann@example.com', null],
    ['bob', 'bob@example.com', 7n],
  ]);
  expect([...found].map(([hash, { userId }]) => [hash, userId])).toEqual([
    ['t1', 'ann'],
    ['t2', 'bob'],
    ['t3', 'bob'],
    ['t4', 'ann'],
  ]);
});
