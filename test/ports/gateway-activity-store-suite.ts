import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type {
  ActivityBatch,
  ActivityField,
  ActivityRow,
  GatewayActivityStore,
} from '../../src/domain/gateway-activity/gateway-activity.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-11-23T10:00:00Z');
const chats = (more: Partial<ActivityRow> = {}): ActivityRow => ({
  day: '2026-11-23',
  category: 'llm',
  route: '/chat/completions',
  succeeded: 2,
  failed: 1,
  ...more,
});
const batch = (number: number, rows: readonly ActivityRow[], process = 'p1'): ActivityBatch => ({
  process,
  number,
  rows,
});
const ALL = { from: '2026-01-01', to: '2027-01-01' };

/** Contract of every GatewayActivityStore. */
export function gatewayActivityStoreSuite({ name, skipReason, create }: Engine): void {
  describe.skipIf(skipReason !== null)(`GatewayActivityStore on ${name}`, () => {
    let scratch: ScratchDatabase;
    let store: GatewayActivityStore;
    let secondStore: GatewayActivityStore;
    beforeAll(async () => {
      scratch = await create();
      store = (await scratch.open()).gatewayActivity;
      secondStore = (await scratch.open()).gatewayActivity;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const grouped = async (by: readonly ActivityField[], more = {}): Promise<readonly unknown[]> =>
      (await store.groups({ ...ALL, ...more, by })).map(({ of, succeeded, failed }) => [
        ...Object.values(of),
        succeeded,
        failed,
      ]);

    it('adds the counts of every batch and process', async () => {
      await store.add(batch(1, [chats()]), NOW);
      await store.add(batch(2, [chats({ succeeded: 5, failed: 0 })]), NOW);
      await secondStore.add(batch(1, [chats({ failed: 7 })], 'p2'), NOW);
      expect(await grouped([])).toEqual([[9, 8]]);
    });

    it('adds a repeated batch once', async () => {
      for (let again = 0; again < 3; again += 1) await store.add(batch(1, [chats()]), NOW);
      await store.add(batch(2, [chats()]), NOW);
      await store.add(batch(1, [chats()]), NOW);
      expect(await grouped([])).toEqual([[4, 2]]);
    });

    it('keeps counts beyond 32 bits exact', async () => {
      await store.add(batch(1, [chats({ succeeded: 2 ** 52, failed: 2 ** 40 })]), NOW);
      await store.add(batch(2, [chats({ succeeded: 1, failed: 1 })]), NOW);
      expect(await grouped([])).toEqual([[2 ** 52 + 1, 2 ** 40 + 1]]);
    });

    it('groups by day, category and route, in their order', async () => {
      const rows = [
        chats({ day: '2026-11-24' }),
        chats({ category: 'mcp', route: '/mcp' }),
        chats({ route: '/embeddings', succeeded: 0 }),
        chats(),
      ];
      await store.add(batch(1, rows), NOW);
      expect(await grouped(['day'])).toEqual([
        ['2026-11-23', 4, 3],
        ['2026-11-24', 2, 1],
      ]);
      expect(await grouped(['category', 'route'])).toEqual([
        ['llm', '/chat/completions', 4, 2],
        ['llm', '/embeddings', 0, 1],
        ['mcp', '/mcp', 2, 1],
      ]);
      expect(await grouped(['day', 'category', 'route'])).toHaveLength(4);
    });

    it('includes both ends of a period, and compares days as text', async () => {
      await store.add(
        batch(
          1,
          ['2026-11-22', '2026-11-23', '2026-11-24'].map((day) => chats({ day })),
        ),
        NOW,
      );
      const days = async (from: string, to: string) => (await grouped(['day'], { from, to })).length;
      expect(await days('2026-11-22', '2026-11-23')).toBe(2);
      expect(await days('2026-11-24', '2026-11-22')).toBe(0);
      expect(await days('zzz', '2026-11-24')).toBe(0);
      expect(await days("'", 'zzz')).toBe(3);
      expect(await days('2026-11-23T00:00:00', '2026-11-23T23:00:00')).toBe(0);
    });

    it('reads only the given categories and routes', async () => {
      await store.add(
        batch(1, [chats(), chats({ route: '/embeddings' }), chats({ category: 'a2a', route: '/a2a' })]),
        NOW,
      );
      expect(await grouped(['route'], { categories: ['a2a'] })).toEqual([['/a2a', 2, 1]]);
      expect(await grouped(['route'], { routes: ['/embeddings', 'nope'] })).toEqual([['/embeddings', 2, 1]]);
    });

    it('returns no counts without data', async () => {
      expect(await grouped(['day'])).toEqual([]);
      expect(await grouped([])).toEqual([[0, 0]]);
    });

    it('loses no count when processes write at the same time', async () => {
      const rows = ['/embeddings', '/chat/completions', '/moderations'].map((route) => chats({ route }));
      const write = async (to: GatewayActivityStore, process: string): Promise<void> => {
        for (let number = 1; number <= 20; number += 1)
          await to.add(batch(number, number % 2 === 0 ? rows : rows.toReversed(), process), NOW);
      };
      await Promise.all([write(store, 'p1'), write(secondStore, 'p2'), write(store, 'p3'), write(secondStore, 'p4')]);
      // Four writers added 20 batches of three rows, each with 2 successes and 1 failure.
      expect(await grouped([])).toEqual([[480, 240]]);
    });

    it('deletes the rows of processes that have not written for a week', async () => {
      await store.add(batch(1, [chats()], 'old'), new Date(NOW.getTime() - 8 * 86_400_000));
      await store.add(batch(1, [chats()], 'new'), NOW);
      await store.add(batch(1, [chats()], 'new'), NOW);
      const { orm } = await scratch.openBare();
      expect(await orm.em.fork().execute('select id from activity_process')).toEqual([{ id: 'new' }]);
    });
  });
}
