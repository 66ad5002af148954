import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deletedKey } from '../../src/domain/keys/key-change.ts';
import type { KeyStore } from '../../src/domain/keys/virtual-key.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aKey, START_MS } from './samples.ts';

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`numbers of keys on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let keys: KeyStore;
    beforeAll(async () => {
      scratch = await engine.create();
      keys = (await scratch.open()).keys;
    });
    afterAll(() => scratch.remove());

    it('keys are counted for teams and users, without deleted keys', async () => {
      for (const [letter, teamId, userId] of [
        ['a', 't', 'u'],
        ['b', 't', null],
        ['c', 't', 'u'],
        ['d', null, 'v'],
      ] as const)
        // oxlint-disable-next-line no-await-in-loop -- four rows
        await keys.add(aKey({ hash: letter.repeat(64), alias: letter, teamId, userId }));
      await keys.change('c'.repeat(64), (key) => deletedKey(key, { now: new Date(START_MS), by: 'b' }));
      expect(await keys.countOwned('teamId', ['t', 'x'])).toEqual(new Map([['t', 2]]));
      const ofUsers = [
        ['u', 1],
        ['v', 1],
      ] as const;
      expect(await keys.countOwned('userId', ['u', 'v'])).toEqual(new Map(ofUsers));
      expect(await keys.countOwned('userId', [])).toEqual(new Map());
    });
  });
