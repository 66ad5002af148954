import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeExpiredAuditEntries } from '../../resolvers/audit-log.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { ALL_CHANGES, type ChangeAuthor } from '../../src/domain/audit-log/audit-entry.ts';
import { SystemCaller } from '../../src/domain/system-caller.ts';
import { newTag, patchedTag } from '../../src/domain/tags/tag.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { START_MS } from './samples.ts';

const dateAfter = (ms: number): Date => new Date(START_MS + ms);
const author = (ms: number): ChangeAuthor => ({ by: 'ada', actor: 'eve', keyHash: 'hash', at: dateAfter(ms) });
const about = { now: dateAfter(0), by: 'ada' };
const tag = (id: string) => newTag({ description: 'first' }, { ...about, id });
const page = { filter: ALL_CHANGES, sort: 'created_at', descending: false, limit: 10, from: 0 } as const;

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`the audit log on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterAll(() => scratch.remove());

    it('has an entry for each committed change, and no other entries', async () => {
      const { tags, authorship, auditLog } = stores;
      await authorship.by(author(1), () => tags.add(tag('a')));
      await expect(authorship.by(author(2), () => tags.add(tag('b'), tag('a')))).rejects.toThrow('already exists');
      await authorship.by(author(3), () => tags.change('a', (row) => patchedTag(row, { description: 'next' }, about)));
      const failing = authorship.by(author(4), () =>
        tags.change('a', () => {
          throw new Error('refused');
        }),
      );
      await expect(failing).rejects.toThrow('refused');
      await tags.add(tag('without an author'));
      await authorship.by(author(5), () => tags.remove(['a', 'unknown']));
      const row = { id: 'a', models: [], budget_id: null, created_by: 'ada', updated_by: 'ada' };
      const times = { created_at: dateAfter(0).toISOString(), updated_at: dateAfter(0).toISOString() };
      const first = { ...row, ...times, description: 'first' };
      const next = { ...row, ...times, description: 'next' };
      const entries = await auditLog.list(page);
      const common = {
        changedBy: 'ada',
        actor: 'eve',
        changedByKey: 'hash',
        noun: 'tag',
        objectId: 'a',
        teamId: null,
        keyHash: null,
      };
      expect(entries.map(({ id: _id, ...entry }) => entry)).toEqual([
        { ...common, action: 'created', createdAt: dateAfter(1), before: null, after: first },
        { ...common, action: 'updated', createdAt: dateAfter(3), before: first, after: next },
        { ...common, action: 'deleted', createdAt: dateAfter(5), before: next, after: null },
      ]);
      expect(await auditLog.find(entries[1]?.id ?? '')).toEqual(entries[1]);
      expect(await auditLog.count({ ...ALL_CHANGES, from: dateAfter(3), to: dateAfter(5) })).toBe(1);
      // PostgreSQL reads neither the year 0 nor years of six digits: the store clamps the times of a filter.
      const everything = { from: new Date('0000-01-01T00:00:00Z'), to: new Date(8.64e15) };
      expect(await auditLog.count({ ...ALL_CHANGES, ...everything })).toBe(3);
      // This `from` is the last entry of the page before. The one of a filter is a time.
      const { id, createdAt } = entries[0] ?? { id: '', createdAt: dateAfter(0) };
      expect(await auditLog.list({ ...page, from: { id, createdAt } })).toEqual(entries.slice(1));
    });

    it('keeps the authors of concurrent changes apart', async () => {
      const { tags, authorship, auditLog } = stores;
      const names = ['one', 'two', 'three', 'four'];
      await Promise.all(
        names.map((by) =>
          authorship.by({ by, actor: by, keyHash: null, at: dateAfter(9) }, () => tags.add(tag(`of ${by}`))),
        ),
      );
      const entries = await auditLog.list({ ...page, filter: { ...ALL_CHANGES, from: dateAfter(9) }, limit: 10 });
      expect(entries.map(({ changedBy, objectId }) => `${changedBy} ${objectId}`).toSorted()).toEqual(
        names.map((name) => `${name} of ${name}`).toSorted(),
      );
    });

    it('removes the oldest entries before a time, in steps, and adds none for a change without an effect', async () => {
      const { tags, authorship, auditLog } = stores;
      const count = (): Promise<number> => auditLog.count(ALL_CHANGES);
      const countBefore = await count();
      await authorship.by(author(20), () => tags.add(tag('kept')));
      await authorship.by(author(21), () => tags.change('kept', (row) => row));
      expect(await count()).toBe(countBefore + 1);
      const scope = { platform: { stores: { auditLog } }, caller: new SystemCaller('retention') } as unknown as Scope;
      const remove = (limit: number) => removeExpiredAuditEntries(scope, { beforeMs: START_MS + 20, limit });
      expect([await remove(2), await remove(100), await remove(100)]).toEqual([2, countBefore - 2, 0]);
      expect((await auditLog.list(page)).map(({ objectId, action }) => [objectId, action])).toEqual([
        ['kept', 'created'],
      ]);
    });
  });
