import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SettingsStore } from '../../src/domain/settings/stored-section.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

/** Time and author of a change. */
const changeAt = (ms: number) => ({ now: new Date(1_700_000_000_000 + ms), by: `user-${ms}` });

/** Contract of every SettingsStore. */
export function settingsStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`SettingsStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let settings: SettingsStore;
    beforeAll(async () => {
      scratch = await engine.create();
      settings = (await scratch.open()).settings;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('creates a section at its first change, and keeps values as they are', async () => {
      expect(await settings.find('general_settings')).toBeNull();
      const content = { z: 1.5, a: null, list: ['b', { deep: true }], text: 'it\'s "ä" \u0000' };
      const row = await settings.change('general_settings', (before) => ({ ...before, ...content }), changeAt(1));
      const { now, by } = changeAt(1);
      const expected = {
        id: 'general_settings',
        content,
        createdAt: now,
        createdBy: by,
        updatedAt: now,
        updatedBy: by,
      };
      expect(row).toEqual(expected);
      expect(await settings.find('general_settings')).toEqual(expected);
      expect(Object.keys((await settings.find('general_settings'))?.content ?? {})).toEqual(Object.keys(content));
    });

    it('changes a section, and stores the author of the change', async () => {
      await settings.change('a', () => ({ x: 1, y: 2 }), changeAt(1));
      const { content, createdBy, updatedBy, updatedAt } = await settings.change('a', ({ x }) => ({ x }), changeAt(2));
      expect({ content, createdBy, updatedBy, updatedAt }).toEqual({
        content: { x: 1 },
        createdBy: 'user-1',
        updatedBy: 'user-2',
        updatedAt: changeAt(2).now,
      });
    });

    it('changes nothing when the change throws', async () => {
      await settings.change('a', () => ({ x: 1 }), changeAt(1));
      const refused = settings.change(
        'a',
        () => {
          throw new Error('refused');
        },
        changeAt(2),
      );
      await expect(refused).rejects.toThrow('refused');
      expect((await settings.find('a'))?.content).toEqual({ x: 1 });
    });

    it('loses none of several concurrent changes, also of a new section', async () => {
      const secondStore = (await scratch.open()).settings;
      const names = Array.from({ length: 5 }, (_, index) => `k${index}`);
      for (const name of names)
        await Promise.all([
          settings.change('busy', (before) => ({ ...before, [`${name}-here`]: 1 }), changeAt(1)),
          secondStore.change('busy', (before) => ({ ...before, [`${name}-there`]: 1 }), changeAt(1)),
        ]);
      expect(Object.keys((await settings.find('busy'))?.content ?? {}).toSorted()).toEqual(
        names.flatMap((name) => [`${name}-here`, `${name}-there`]),
      );
    });

    it('stores ten concurrent changes of different values in a section from two processes', async () => {
      const secondStore = (await scratch.open()).settings;
      const names = Array.from({ length: 10 }, (_, index) => `value-${index}`);
      await Promise.all(
        names.map((name, index) =>
          (index % 2 === 0 ? settings : secondStore).change(
            'shared',
            (before) => ({ ...before, [name]: index }),
            changeAt(1),
          ),
        ),
      );
      expect((await settings.find('shared'))?.content).toEqual(
        Object.fromEntries(names.map((name, index) => [name, index])),
      );
    });

    it('lists every section', async () => {
      await settings.change('a', () => ({}), changeAt(1));
      await settings.change('b', () => ({ x: 1 }), changeAt(2));
      expect((await settings.all()).map(({ id, content }) => [id, content])).toEqual([
        ['a', {}],
        ['b', { x: 1 }],
      ]);
    });
  });
}
