import { createHash } from 'node:crypto';
import { Migrator } from '@mikro-orm/migrations';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aKey } from './samples.ts';

/** The migration before the one that masks the names of short keys. */
const PREVIOUS_MIGRATION = 'Migration20261122070000_key_changes';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Keys, and their names after the migration. */
const NAMES: readonly (readonly [string, string])[] = [
  ['sk-1', 'sk-...'],
  ['sk-12', 'sk-...'],
  ['sk-1234', 'sk-...'],
  ['sk-12345', 'sk-...'],
  ['sk-0123456789abcdefghij', 'sk-...ghij'],
];

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`masked names of keys on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    beforeEach(async () => {
      scratch = await engine.create();
    });
    afterEach(() => scratch.remove());

    it('do not show the whole key after the migration', async () => {
      const before = await scratch.open();
      for (const [key] of NAMES)
        await before.keys.add(aKey({ hash: sha256(key), alias: key, name: `sk-...${key.slice(-4)}` }));
      const { orm } = await scratch.openBare();
      await new Migrator(orm.em).down({ to: PREVIOUS_MIGRATION });
      // Opening the stores applies the later migrations again.
      const after = await scratch.open();
      const keys = await after.keys.findMany(NAMES.map(([key]) => sha256(key)));
      expect(new Map(keys.map(({ alias, name }) => [alias, name]))).toEqual(new Map(NAMES));
    });
  });
