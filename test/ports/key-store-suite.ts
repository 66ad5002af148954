import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict } from '../../src/domain/errors.ts';
import { deletedKey, patchedKey, rotatedKey } from '../../src/domain/keys/key-change.ts';
import type { KeyFilter, KeyPage, KeyStore, VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { aKey, aSpendRow, picos, START_MS } from './samples.ts';

/** Contract of every KeyStore. */
export function keyStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`KeyStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let keys: KeyStore;
    beforeAll(async () => {
      scratch = await engine.create();
      keys = (await scratch.open()).keys;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns a key as it was added', async () => {
      await keys.add(aKey());
      expect(await keys.find(aKey().hash)).toEqual(aKey());
    });

    it('returns the existing keys of many hashes', async () => {
      const [first, second] = [aKey(), aKey({ hash: 'b'.repeat(64), alias: 'second' })];
      for (const key of [first, second]) await keys.add(key);
      const found = await keys.findMany([second.hash, 'c'.repeat(64), first.hash]);
      expect(found.toSorted((left, right) => (left.hash < right.hash ? -1 : 1))).toEqual([first, second]);
      expect(await keys.findMany([])).toEqual([]);
    });

    it('returns nulls, an empty list and `blocked` as they were added', async () => {
      const bare = aKey({
        alias: null,
        teamId: null,
        userId: null,
        models: [],
        maxBudget: null,
        metadata: {},
        expiresAt: null,
        blocked: true,
      });
      await keys.add(bare);
      expect(await keys.find(bare.hash)).toEqual(bare);
    });

    it.each([0n, 1n, 2n ** 53n + 1n, 2n ** 64n, 10n ** 30n])(
      'keeps a budget of %s picodollars exact',
      async (amount) => {
        await keys.add(aKey({ maxBudget: picos(amount) }));
        expect((await keys.find(aKey().hash))?.maxBudget).toBe(amount);
      },
    );

    it('keeps settings and budget windows exact, and finds the keys whose window has ended', async () => {
      const ends = (ms: number) => new Date(START_MS + ms);
      const window = { budgetDuration: '1d', maxBudget: '1.5', spentBefore: '0.1', resetAt: ends(2).toISOString() };
      const first = aKey({
        settings: { rpmLimit: -1, aliases: { ["it's ?"]: 'b' }, budgetLimits: [window] },
        budgetDuration: '30d',
        budgetResetAt: ends(5),
        spentBefore: picos(-(2n ** 70n)),
      });
      const second = aKey({ hash: 'b'.repeat(64), alias: null, budgetDuration: '1d', budgetResetAt: ends(1) });
      for (const key of [first, second]) await keys.add(key);
      await keys.add(aKey({ hash: 'c'.repeat(64), alias: 'c' }));
      expect(await keys.find(first.hash)).toEqual(first);
      expect(await keys.dueForReset(ends(0), 10)).toEqual([]);
      expect(await keys.dueForReset(ends(2), 10)).toEqual([second.hash, first.hash]);
      expect(await keys.dueForReset(ends(2), 1)).toEqual([second.hash]);
      await keys.change(second.hash, (key) => deletedKey(key, { now: ends(0), by: 'admin' }));
      expect(await keys.dueForReset(ends(2), 10)).toEqual([first.hash]);
    });

    it('lists keys whose alias contains a text, in any case, and keys that have an alias', async () => {
      const aliases = ['Team A_1', 'team%b', null, 'other'];
      for (const [position, alias] of aliases.entries())
        await keys.add(aKey({ hash: String(position).repeat(64), alias }));
      const list = async (more: Partial<KeyFilter>) => {
        const none = {
          hash: null,
          alias: null,
          teamId: null,
          userId: null,
          blocked: null,
          status: null,
          visibleTo: null,
        };
        const filter = { ...none, ...more };
        const page = { filter, now: new Date(START_MS), sort: 'token', descending: false, limit: 10, from: 0 } as const;
        const rows = await keys.list(page);
        expect(await keys.count(filter, page.now)).toBe(rows.length);
        return rows.map(({ alias }) => alias);
      };
      expect(await list({ aliasPart: 'TEAM' })).toEqual(['Team A_1', 'team%b']);
      expect(await list({ aliasPart: '%' })).toEqual(['team%b']);
      expect(await list({ aliasPart: '_' })).toEqual(['Team A_1']);
      expect(await list({ hasAlias: true })).toEqual(['Team A_1', 'team%b', 'other']);
    });

    it.each([0, 1, 253_402_300_799_999])('keeps an expiry at %s ms exact', async (ms) => {
      await keys.add(aKey({ expiresAt: new Date(ms) }));
      expect((await keys.find(aKey().hash))?.expiresAt).toEqual(new Date(ms));
    });

    it('keeps metadata with its order, quotes, question marks and odd characters', async () => {
      const metadata = {
        zeta: 'it\'s "quoted" ? ?? :name $1 \\ \n',
        alpha: [1, 2.5, null, true, { deep: '\u0000 \u{1F600}' }],
        10: 'number-like',
      };
      const odd = aKey({ alias: "o'brien ? \\ \u{1F600}", metadata, models: ["it's", '?', 'a"b'] });
      await keys.add(odd);
      const found = await keys.find(odd.hash);
      expect(found).toEqual(odd);
      expect(JSON.stringify(found?.metadata)).toBe(JSON.stringify(metadata));
    });

    it('refuses a hash that is taken', async () => {
      await keys.add(aKey());
      const again = keys.add(aKey({ alias: 'second' }));
      await expect(again).rejects.toThrow(new Conflict('This key already exists.'));
      expect(await keys.find(aKey().hash)).toEqual(aKey());
    });

    it('refuses an alias that is taken, and names it', async () => {
      await keys.add(aKey());
      const message = "Key with alias 'first' already exists. Unique key aliases across all keys are required.";
      await expect(keys.add(aKey({ hash: 'b'.repeat(64) }))).rejects.toThrow(
        new Conflict(message, { field: 'key_alias' }),
      );
      expect(await keys.find('b'.repeat(64))).toBeNull();
    });

    it('allows any number of keys without an alias', async () => {
      await keys.add(aKey({ alias: null }));
      await keys.add(aKey({ hash: 'b'.repeat(64), alias: null }));
      expect(await keys.find('b'.repeat(64))).toEqual(aKey({ hash: 'b'.repeat(64), alias: null }));
    });

    it('finds nothing under an unknown hash', async () => {
      expect(await keys.find('0'.repeat(64))).toBeNull();
    });

    it('gives an alias to the key of only one of two processes', async () => {
      const secondStore = (await scratch.open()).keys;
      const settled = await Promise.allSettled([keys.add(aKey()), secondStore.add(aKey({ hash: 'b'.repeat(64) }))]);
      expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const refused = settled.find((result) => result.status === 'rejected');
      expect(refused?.reason).toBeInstanceOf(Conflict);
    });

    const CHANGE = { now: new Date(START_MS + 1_000), by: 'e'.repeat(64) };
    const secret = (hash: string) => ({ key: `sk-${hash}`, hash, now: CHANGE.now, createdBy: CHANGE.by });

    it('returns the key before and after a change, and stores it', async () => {
      await keys.add(aKey());
      const after = patchedKey(aKey(), { alias: 'renamed', blocked: true, maxBudget: null, teamId: null }, CHANGE);
      const patch = (key: VirtualKey) => ({ ...key, ...after });
      expect(await keys.change(aKey().hash, patch)).toEqual({ before: aKey(), after });
      expect(await keys.find(aKey().hash)).toEqual(after);
    });

    it('changes nothing for an unknown key or a change that throws', async () => {
      expect(await keys.change('0'.repeat(64), (key) => key)).toBeNull();
      await keys.add(aKey());
      const failing = keys.change(aKey().hash, () => {
        throw new Conflict('no');
      });
      await expect(failing).rejects.toThrow(new Conflict('no'));
      expect(await keys.find(aKey().hash)).toEqual(aKey());
    });

    it('keeps all concurrent changes of several processes', async () => {
      await keys.add(aKey({ metadata: {} }));
      const secondStore = (await scratch.open()).keys;
      const add = (store: KeyStore, name: string) =>
        store.change(aKey().hash, (key) => patchedKey(key, { metadata: { ...key.metadata, [name]: true } }, CHANGE));
      await Promise.all([add(keys, 'a'), add(secondStore, 'b'), add(keys, 'c'), add(secondStore, 'd')]);
      expect((await keys.find(aKey().hash))?.metadata).toEqual({ a: true, b: true, c: true, d: true });
    });

    it('refuses to rename a key to an alias that is taken', async () => {
      await keys.add(aKey());
      const second = aKey({ hash: 'b'.repeat(64), alias: 'second' });
      await keys.add(second);
      const message = "Key with alias 'first' already exists. Unique key aliases across all keys are required.";
      const renamed = keys.change(second.hash, (key) => patchedKey(key, { alias: 'first' }, CHANGE));
      await expect(renamed).rejects.toThrow(new Conflict(message, { field: 'key_alias' }));
      expect(await keys.find(second.hash)).toEqual(second);
    });

    it('deletes a key: its row stays, its alias is free, and its secret is never issued again', async () => {
      await keys.add(aKey());
      const after = deletedKey(aKey(), CHANGE);
      expect(await keys.change(aKey().hash, (key) => deletedKey(key, CHANGE))).toEqual({ before: aKey(), after });
      expect(await keys.find(aKey().hash)).toBeNull();
      expect(await keys.findBySecrets([aKey().hash])).toEqual(new Map());
      expect(await keys.findMany([aKey().hash])).toEqual([after]);
      expect(await keys.findAliases(['first'])).toEqual([]);
      expect(await keys.change(aKey().hash, (key) => key)).toBeNull();
      await expect(keys.add(aKey({ alias: null }))).rejects.toThrow(new Conflict('This key already exists.'));
      await keys.add(aKey({ hash: 'b'.repeat(64) }));
      expect((await keys.findAliases(['first', 'x'])).map(({ hash }) => hash)).toEqual(['b'.repeat(64)]);
    });

    it('finds a rotated key by its new secret, and by the old one in its grace period', async () => {
      await keys.add(aKey());
      const [secondSecret, thirdSecret] = ['b'.repeat(64), 'c'.repeat(64)];
      const rotated = await keys.change(aKey().hash, (key) => rotatedKey(key, secret(secondSecret), '1h'));
      const row = { ...rotatedKey(aKey(), secret(secondSecret), '1h') };
      expect(rotated?.after).toEqual(row);
      expect(await keys.findBySecrets([aKey().hash, secondSecret, thirdSecret])).toEqual(
        new Map([
          [aKey().hash, row],
          [secondSecret, row],
        ]),
      );
      await keys.change(aKey().hash, (key) => rotatedKey(key, secret(thirdSecret), null));
      expect((await keys.find(thirdSecret))?.hash).toBe(aKey().hash);
      for (const old of [aKey().hash, secondSecret]) {
        expect(await keys.find(old)).toBeNull();
        const again = keys.add(aKey({ hash: old, secretHash: old, alias: null }));
        await expect(again).rejects.toThrow(new Conflict('This key already exists.'));
        const rotation = keys.change(aKey().hash, (key) => rotatedKey(key, secret(old), null));
        await expect(rotation).rejects.toThrow(new Conflict('This key already exists.'));
      }
    });

    it('refuses a rotation to the secret of another key', async () => {
      await keys.add(aKey());
      const secondKey = aKey({ hash: 'b'.repeat(64), alias: 'second' });
      await keys.add(secondKey);
      const rotation = keys.change(aKey().hash, (key) => rotatedKey(key, secret(secondKey.hash), null));
      await expect(rotation).rejects.toThrow(new Conflict('This key already exists.'));
      expect(await keys.find(aKey().hash)).toEqual(aKey());
    });

    describe('lists keys', () => {
      const NOW = new Date(START_MS + 10_000);
      const ANY: KeyFilter = {
        hash: null,
        alias: null,
        teamId: null,
        userId: null,
        blocked: null,
        status: null,
        visibleTo: null,
      };
      const PAGE: KeyPage = { filter: ANY, now: NOW, sort: 'created_at', descending: true, limit: 10, from: 0 };
      const key = (letter: string, second: number, fields: Partial<VirtualKey> = {}): VirtualKey =>
        aKey({
          hash: letter.repeat(64),
          alias: letter,
          createdAt: new Date(START_MS + second * 1_000),
          updatedAt: new Date(START_MS + second * 1_000),
          expiresAt: null,
          ...fields,
        });
      const ROWS = [
        key('a', 1, { teamId: 't', userId: 'u', maxBudget: picos(9n) }),
        key('b', 2, { teamId: 't', blocked: true, maxBudget: picos(10n) }),
        key('c', 2, { teamId: null, userId: 'u', expiresAt: NOW, maxBudget: null }),
        key('d', 3, { teamId: null, userId: null, alias: null, createdBy: 'a'.repeat(64) }),
        key('e', 4, { teamId: 't', deletedAt: NOW, deletedBy: 'x' }),
      ];
      const letters = (rows: readonly VirtualKey[]): string => rows.map(({ hash }) => hash.charAt(0)).join('');
      const list = async (filter: Partial<KeyFilter>, page: Partial<KeyPage> = {}) => {
        const wanted = { ...ANY, ...filter };
        const rows = await keys.list({ ...PAGE, ...page, filter: wanted });
        return [letters(rows), await keys.count(wanted, NOW)];
      };
      const addRows = () => Promise.all(ROWS.map((row) => keys.add(row)));

      it.each<[string, Partial<KeyFilter>, string]>([
        ['that are not deleted, newest first', {}, 'dcba'],
        ['of a team', { teamId: 't' }, 'ba'],
        ['of a user', { userId: 'u' }, 'ca'],
        ['of a user, and those that its keys created', { userId: 'u', withCreated: true }, 'dca'],
        ['visible or created', { withCreated: true, visibleTo: { hash: 'b'.repeat(64), userId: 'u' } }, 'dcba'],
        ['by hash', { hash: 'b'.repeat(64) }, 'b'],
        ['by alias', { alias: 'c' }, 'c'],
        ['that are blocked', { blocked: true }, 'b'],
        ['that are not blocked', { blocked: false }, 'dca'],
        ['that are active', { status: 'active' }, 'da'],
        ['that are revoked', { status: 'revoked' }, 'b'],
        ['that have expired', { status: 'expired' }, 'c'],
        ['that are deleted', { status: 'deleted' }, 'e'],
        ['under several conditions', { teamId: 't', blocked: false }, 'a'],
        ['that are visible to a key without a user', { visibleTo: { hash: 'd'.repeat(64), userId: null } }, 'd'],
        ['that are visible to a key of a user', { visibleTo: { hash: 'a'.repeat(64), userId: 'u' } }, 'ca'],
        ['of visible teams', { visibleTo: { hash: 'd'.repeat(64), userId: null, teamIds: ['t', 'x'] } }, 'dba'],
        [
          'of a user in visible teams',
          { userId: 'u', visibleTo: { hash: 'd'.repeat(64), userId: null, teamIds: ['t'] } },
          'a',
        ],
        ['of a team that the key may not see', { teamId: 't', visibleTo: { hash: 'd'.repeat(64), userId: null } }, ''],
      ])('%s', async (_what, filter, expected) => {
        await addRows();
        expect(await list(filter)).toEqual([expected, expected.length]);
      });

      it('in pages that begin at an offset or after a row, in both orders', async () => {
        await addRows();
        expect(await list({}, { limit: 2 })).toEqual(['dc', 4]);
        expect(await list({}, { limit: 2, from: 2 })).toEqual(['ba', 4]);
        expect(await list({}, { from: Number.MAX_SAFE_INTEGER })).toEqual(['', 4]);
        const keyC = ROWS[2] as VirtualKey;
        expect(await list({}, { from: keyC })).toEqual(['ba', 4]);
        expect(await list({}, { from: keyC, descending: false })).toEqual(['d', 4]);
      });

      it.each([
        ['created_at', 'abcd'],
        ['updated_at', 'abcd'],
        ['token', 'abcd'],
        ['key_alias', 'dabc'],
        ['max_budget', 'cabd'],
        ['spend', 'acdb'],
        // Key c has no budget. The 9 picodollars of key d are less than a millionth of its budget.
        ['budget_use', 'cadb'],
      ] as const)('by %s', async (sort, expected) => {
        await addRows();
        const { spend } = await scratch.open();
        await spend.append([aSpendRow({ id: '1', keyHash: 'b'.repeat(64), cost: picos(10n) })]);
        await spend.append([aSpendRow({ id: '2', keyHash: 'd'.repeat(64), cost: picos(9n) })]);
        expect(await list({}, { sort, descending: false })).toEqual([expected, 4]);
        expect(await spend.totalsOf(['b', 'd', 'a'].map((letter) => letter.repeat(64)))).toEqual(
          new Map([
            ['b'.repeat(64), 10n],
            ['d'.repeat(64), 9n],
          ]),
        );
      });
    });

    it('serves many concurrent callers', async () => {
      const many = Array.from({ length: 40 }, (_, position) =>
        aKey({ hash: position.toString(16).padStart(64, '0'), alias: `key ${position}` }),
      );
      await Promise.all(many.map((key) => keys.add(key)));
      expect(await Promise.all(many.map(({ hash }) => keys.find(hash)))).toEqual(many);
    });
  });
}
