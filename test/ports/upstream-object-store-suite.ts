import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Visibility } from '../../src/domain/caller.ts';
import type { Usd } from '../../src/domain/money.ts';
import type {
  ObjectPage,
  OpenPage,
  UpstreamObject,
  UpstreamObjectStore,
} from '../../src/domain/upstream-objects/upstream-object.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const KEY = 'a'.repeat(64);
const ALL: Visibility = { kind: 'all' };
const PAGE: ObjectPage = { kind: 'file', purpose: null, after: null, limit: 10, oldestFirst: false };

const anObject = (overrides: Partial<UpstreamObject> = {}): UpstreamObject => ({
  id: 'file-1',
  kind: 'file',
  deploymentId: 'deployment-1',
  upstreamId: `up-${overrides.id ?? 'file-1'}`,
  owner: { teamId: null, keyHash: KEY },
  createdAt: new Date('2026-11-21T00:00:00.001Z'),
  purpose: 'batch',
  shown: { id: 'up-1', filename: 'it\'s "ä" ? \u0000', bytes: 2 },
  ...overrides,
});

/** Contract of every UpstreamObjectStore. */
export function upstreamObjectStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`UpstreamObjectStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let objects: UpstreamObjectStore;
    beforeAll(async () => {
      scratch = await engine.create();
      objects = (await scratch.open()).upstreamObjects;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const ids = async (visibility: Visibility, page: Partial<ObjectPage> = {}): Promise<readonly string[]> =>
      (await objects.list(visibility, { ...PAGE, ...page })).map(({ id }) => id);

    it.each([
      anObject(),
      anObject({ kind: 'batch', purpose: null, shown: null, owner: { teamId: 't', keyHash: KEY } }),
      anObject({ kind: 'batch', userId: 'u', calls: { m: { requests: 1, tokens: 2 } } }),
      anObject({ kind: 'container', purpose: 'box' }),
      anObject({ kind: 'eval_run', purpose: 'eval_1', userId: 'u', calls: { m: { requests: 0, tokens: 0 } } }),
    ])('returns an object unchanged', async (object) => {
      await objects.add(object);
      expect(await objects.find('file-1')).toEqual(object);
    });

    it('keeps the first object with an upstream id of one deployment', async () => {
      await objects.add(anObject());
      await objects.add(anObject({ id: 'file-2', upstreamId: 'up-file-1', owner: { teamId: 'thief', keyHash: KEY } }));
      await objects.add(anObject({ id: 'file-3', upstreamId: 'up-file-1', deploymentId: 'deployment-2' }));
      expect([await objects.find('file-2'), await objects.find('file-1')]).toEqual([null, anObject()]);
      expect(await objects.findAtUpstream('deployment-1', ['up-file-1', 'up-none', "'"])).toEqual([anObject()]);
      expect(await objects.findAtUpstream('deployment-1', [])).toEqual([]);
    });

    it('keeps one of two objects that are added concurrently with the same upstream id', async () => {
      const secondStore = (await scratch.open()).upstreamObjects;
      await Promise.all([
        objects.add(anObject()),
        secondStore.add(anObject({ id: 'file-2', upstreamId: 'up-file-1' })),
      ]);
      expect(await objects.findAtUpstream('deployment-1', ['up-file-1'])).toHaveLength(1);
      expect(await ids(ALL)).toHaveLength(1);
    });

    it('returns the last upstream state of an object', async () => {
      await objects.add(anObject({ shown: null }));
      await objects.saveState('file-1', { status: 'processed' });
      expect((await objects.find('file-1'))?.shown).toEqual({ status: 'processed' });
    });

    it('lists the objects with an expected cost until they have a final state or are removed', async () => {
      const open = (id: string, kind: UpstreamObject['kind'], openCost: bigint, day: number) =>
        anObject({
          id,
          kind,
          purpose: null,
          shown: { status: 'queued' },
          openCost: openCost as Usd,
          createdAt: new Date(Date.UTC(2026, 10, day)),
        });
      const large = 12_345_678_901_234_567_890n;
      const rows = [
        open('resp_1', 'response', 0n, 1),
        open('resp_2', 'response', large, 2),
        open('b_1', 'batch', 1n, 3),
      ];
      await objects.add(anObject({ id: 'resp_0', kind: 'response' }));
      for (const row of rows) await objects.add(row);
      const list = async (more: Partial<OpenPage> = {}) =>
        (await objects.listOpen({ kinds: ['batch', 'response'], holding: false, after: null, limit: 9, ...more })).map(
          ({ id }) => id,
        );
      expect(await objects.find('resp_2')).toEqual(rows[1]);
      expect(await list()).toEqual(['b_1', 'resp_2', 'resp_1']);
      expect(await list({ holding: true })).toEqual(['b_1', 'resp_2']);
      expect(await list({ kinds: ['response'], limit: 1 })).toEqual(['resp_2']);
      expect(await list({ after: rows[1] ?? null })).toEqual(['resp_1']);
      await objects.saveState('resp_2', { status: 'in_progress' });
      expect(await list({ holding: true })).toEqual(['b_1', 'resp_2']);
      await objects.saveState('resp_2', { status: 'completed' });
      await objects.remove('b_1', new Date());
      expect(await list()).toEqual(['resp_1']);
      expect(await objects.find('resp_2')).not.toHaveProperty('openCost');
    });

    it('finds no object by texts that no store accepts, and stores such texts with replacement characters', async () => {
      for (const text of ['a\0', '\ud800']) {
        expect(await objects.find(text)).toBeNull();
        expect(await ids(ALL, { after: text })).toEqual([]);
        expect(await ids(ALL, { purpose: text })).toEqual([]);
        await objects.saveState(text, {});
        await objects.remove(text, new Date());
      }
      await objects.add(anObject({ upstreamId: 'up\0', purpose: 'p\ud800' }));
      const stored = anObject({ upstreamId: 'up\u{FFFD}', purpose: 'p\u{FFFD}' });
      expect(await objects.find('file-1')).toEqual(stored);
      expect(await objects.findAtUpstream('deployment-1', ['up\0'])).toEqual([stored]);
      expect(await ids(ALL, { purpose: 'p\ud800' })).toEqual(['file-1']);
    });

    it('finds a removed object only by its upstream id', async () => {
      await objects.add(anObject());
      await objects.remove('file-1', new Date());
      expect([await objects.find('file-1'), await ids(ALL)]).toEqual([null, []]);
      expect(await objects.findAtUpstream('deployment-1', ['up-file-1'])).toEqual([anObject()]);
    });

    it('lists only the objects that a reader may see', async () => {
      const other = { teamId: null, keyHash: 'b'.repeat(64) };
      await objects.add(anObject());
      await objects.add(anObject({ id: 'file-2', owner: other }));
      await objects.add(anObject({ id: 'file-3', owner: { teamId: 't', keyHash: KEY } }));
      await objects.add(anObject({ id: 'batch_1', kind: 'batch' }));
      expect({
        all: await ids(ALL),
        team: await ids({ kind: 'team', teamId: 't' }),
        key: await ids({ kind: 'key', keyHash: KEY }),
        stranger: await ids({ kind: 'key', keyHash: 'c'.repeat(64) }),
        batches: await ids(ALL, { kind: 'batch' }),
      }).toEqual({
        all: ['file-3', 'file-2', 'file-1'],
        team: ['file-3'],
        key: ['file-1'],
        stranger: [],
        batches: ['batch_1'],
      });
    });

    it('pages newest first or oldest first, also within one millisecond, and by purpose', async () => {
      // The first two objects have the same time of creation.
      for (const [index, purpose] of ['batch', 'user_data', 'batch', 'batch'].entries())
        await objects.add(
          anObject({ id: `file-${index}`, purpose, createdAt: new Date(index < 2 ? 1_000 : 1_000 + index) }),
        );
      expect({
        first: await ids(ALL, { limit: 2 }),
        second: await ids(ALL, { limit: 2, after: 'file-2' }),
        end: await ids(ALL, { after: 'file-0' }),
        oldest: await ids(ALL, { oldestFirst: true, limit: 3 }),
        after: await ids(ALL, { oldestFirst: true, after: 'file-1' }),
        purpose: await ids(ALL, { purpose: 'user_data' }),
        unknown: await ids(ALL, { after: 'file-x' }),
      }).toEqual({
        first: ['file-3', 'file-2'],
        second: ['file-1', 'file-0'],
        end: [],
        oldest: ['file-0', 'file-1', 'file-2'],
        after: ['file-2', 'file-3'],
        purpose: ['file-1'],
        unknown: [],
      });
    });
  });
}
