import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict } from '../../src/domain/errors.ts';
import type { KeyStore } from '../../src/domain/keys/virtual-key.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { aKey, picos } from './samples.ts';

/** What every KeyStore promises. */
export function keyStoreSuite(engine: Engine): void {
  describe.skipIf(engine.missing !== null)(`KeyStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let keys: KeyStore;
    beforeAll(async () => {
      scratch = await engine.create();
      keys = (await scratch.open()).keys;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('gives a key back as it was added', async () => {
      await keys.add(aKey());
      expect(await keys.find(aKey().hash)).toEqual(aKey());
    });

    it('gives those of many that are there', async () => {
      const [first, second] = [aKey(), aKey({ hash: 'b'.repeat(64), alias: 'second' })];
      for (const key of [first, second]) await keys.add(key);
      const found = await keys.findMany([second.hash, 'c'.repeat(64), first.hash]);
      expect(found.toSorted((left, right) => (left.hash < right.hash ? -1 : 1))).toEqual([first, second]);
      expect(await keys.findMany([])).toEqual([]);
    });

    it('keeps nulls, empty lists and both kinds of blocked apart', async () => {
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

    it('refuses an alias that is taken, by name', async () => {
      await keys.add(aKey());
      const message = "Key with alias 'first' already exists. Unique key aliases across all keys are required.";
      await expect(keys.add(aKey({ hash: 'b'.repeat(64) }))).rejects.toThrow(new Conflict(message));
      expect(await keys.find('b'.repeat(64))).toBeNull();
    });

    it('lets any number of keys have no alias', async () => {
      await keys.add(aKey({ alias: null }));
      await keys.add(aKey({ hash: 'b'.repeat(64), alias: null }));
      expect(await keys.find('b'.repeat(64))).toEqual(aKey({ hash: 'b'.repeat(64), alias: null }));
    });

    it('finds nothing under an unknown hash', async () => {
      expect(await keys.find('0'.repeat(64))).toBeNull();
    });

    it('gives one of two processes the alias', async () => {
      const other = (await scratch.open()).keys;
      const settled = await Promise.allSettled([keys.add(aKey()), other.add(aKey({ hash: 'b'.repeat(64) }))]);
      expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const refused = settled.find((result) => result.status === 'rejected');
      expect(refused?.reason).toBeInstanceOf(Conflict);
    });

    it('serves many callers at once', async () => {
      const many = Array.from({ length: 40 }, (_, position) =>
        aKey({ hash: position.toString(16).padStart(64, '0'), alias: `key ${position}` }),
      );
      await Promise.all(many.map((key) => keys.add(key)));
      expect(await Promise.all(many.map(({ hash }) => keys.find(hash)))).toEqual(many);
    });
  });
}
