import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CatalogChange } from '../../src/domain/catalog/changes.ts';
import type { CatalogHistory, ChangeFilters, RecordHead } from '../../src/domain/catalog/history.ts';
import { Conflict } from '../../src/domain/errors.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const EVERYTHING: ChangeFilters = {
  entryId: null,
  provider: null,
  field: null,
  kind: null,
  op: null,
  from: null,
  to: null,
};

function aChange(fields: Partial<CatalogChange> = {}): CatalogChange {
  return {
    at: day(1),
    notBefore: null,
    entryId: 'openai/gpt',
    provider: 'openai',
    op: 'changed',
    field: 'input_cost_per_token',
    old: 1e-6,
    new: 2e-6,
    snapshotId: null,
    ...fields,
  };
}

const headAt = (number: number): RecordHead => ({
  snapshotId: `snapshot-${number}`,
  takenAt: day(number),
  seenAt: day(number),
  confirmedAt: day(number),
});

/** Starts the history on the 10th with two entries. */
async function begin(history: CatalogHistory): Promise<void> {
  await history.record({
    from: null,
    head: headAt(10),
    changes: [],
    entries: [
      { entryId: 'a', fields: { input_cost_per_token: 1e-6, provider: 'openai' } },
      { entryId: 'b', fields: { mode: 'chat' } },
    ],
  });
}

const listChanges = async (
  history: CatalogHistory,
  filters: Partial<ChangeFilters> = {},
): Promise<readonly CatalogChange[]> =>
  (await history.list({ ...EVERYTHING, ...filters }, null, 1_000)).map(({ change }) => change);

/** Contract of every CatalogHistory. */
export function catalogHistorySuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`CatalogHistory on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let history: CatalogHistory;
    beforeAll(async () => {
      scratch = await engine.create();
      history = (await scratch.open()).catalogHistory;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('is empty before the first record', async () => {
      expect([await history.head(), await history.recorded(null, 10), await history.spans()]).toEqual([null, [], []]);
      expect(await history.ofEntries(['a'])).toEqual([
        { entryId: 'a', changes: [], complete: true, fields: null, spans: [] },
      ]);
      await expect(history.record({ from: 'snapshot-1', head: headAt(2), changes: [], entries: [] })).rejects.toThrow(
        Conflict,
      );
    });

    it('starts with a state, and adds the changes of each step', async () => {
      await begin(history);
      const changes = [
        aChange({ at: day(11), entryId: 'a', snapshotId: 'snapshot-11' }),
        aChange({ at: day(11), entryId: 'b', op: 'removed', field: null, old: { mode: 'chat' }, new: null }),
        aChange({ at: day(11), entryId: 'c', op: 'added', field: null, old: null, new: { mode: 'ocr' } }),
      ];
      const step = {
        from: 'snapshot-10',
        head: headAt(11),
        changes,
        entries: [
          { entryId: 'a', fields: { input_cost_per_token: 2e-6 } },
          { entryId: 'b', fields: null },
          { entryId: 'c', fields: { mode: 'ocr' } },
        ],
      };
      expect(await history.record(step)).toEqual(headAt(11));
      expect(await history.head()).toEqual(headAt(11));
      expect(await history.recorded(null, 10)).toEqual([step.entries[0], step.entries[2]]);
      expect(await history.recorded('a', 1)).toEqual([step.entries[2]]);
      expect(await listChanges(history)).toEqual(changes.toReversed());
      expect(await history.spans()).toEqual([{ source: 'recorded', from: day(10), to: null }]);
    });

    it('records a step once, and none from an older state', async () => {
      await begin(history);
      const step = { from: 'snapshot-10', head: headAt(11), changes: [aChange({ at: day(11) })], entries: [] };
      await history.record(step);
      expect(await history.record(step)).toEqual(headAt(11));
      await begin(history);
      const late = { ...step, head: headAt(12), changes: [aChange({ at: day(12) })] };
      expect(await history.record(late)).toEqual(headAt(11));
      expect([await history.head(), (await listChanges(history)).length]).toEqual([headAt(11), 1]);
    });

    it('confirms only the recorded state, and never moves its time of confirmation backwards', async () => {
      await history.confirm('snapshot-10', day(11));
      await begin(history);
      await history.confirm('snapshot-9', day(20));
      expect(await history.head()).toEqual(headAt(10));
      for (const number of [15, 12]) await history.confirm('snapshot-10', day(number));
      expect(await history.head()).toEqual({ ...headAt(10), confirmedAt: day(15) });
      const step = { from: 'snapshot-10', head: headAt(16), changes: [], entries: [] };
      expect(await history.record(step)).toEqual(headAt(16));
    });

    it('stores the start of a gap without observations', async () => {
      const change = aChange({ at: day(11), notBefore: day(3) });
      await begin(history);
      await history.record({ from: 'snapshot-10', head: headAt(11), changes: [change], entries: [] });
      expect(await listChanges(history)).toEqual([change]);
    });

    it('records one first state and one step when processes record the same concurrently', async () => {
      const secondStore = (await scratch.open()).catalogHistory;
      await Promise.all([begin(history), begin(secondStore), begin(history)]);
      const steps = [history, secondStore, history, secondStore].map((store, place) =>
        store.record({
          from: 'snapshot-10',
          head: headAt(11),
          changes: [aChange({ at: day(11), new: place })],
          entries: [],
        }),
      );
      expect(await Promise.all(steps)).toEqual(steps.map(() => headAt(11)));
      expect(await listChanges(history)).toHaveLength(1);
    });

    it('writes a step whole or not at all', async () => {
      await begin(history);
      // An invalid date is stored as null, which the column refuses.
      const broken = aChange({ at: new Date(Number.NaN) });
      await expect(
        history.record({ from: 'snapshot-10', head: headAt(11), changes: [aChange(), broken], entries: [] }),
      ).rejects.toThrow(/null/i);
      expect([await history.head(), await listChanges(history)]).toEqual([headAt(10), []]);
    });

    it('records thousands of entries and changes in one step', async () => {
      const entries = Array.from({ length: 2_500 }, (_, place) => ({ entryId: `m${place}`, fields: { rpm: place } }));
      await history.record({ from: null, head: headAt(10), changes: [], entries });
      const changes = entries.map(({ entryId }, place) => aChange({ at: day(11), entryId, new: place }));
      await history.record({ from: 'snapshot-10', head: headAt(11), changes, entries });
      expect(await history.recorded(null, 5_000)).toHaveLength(2_500);
      expect((await history.list(EVERYTHING, null, 5_000)).map(({ change }) => change)).toEqual(changes.toReversed());
    });

    it('stores the longest allowed names', async () => {
      const [entryId, field] = ['\u{4e2d}'.repeat(512), `max_${'\u{4e2d}'.repeat(508)}`];
      const change = aChange({ at: day(11), entryId, field, provider: 'p' });
      await begin(history);
      const step = {
        from: 'snapshot-10',
        head: headAt(11),
        changes: [change],
        entries: [{ entryId, fields: { [field]: 1 } }],
      };
      await history.record(step);
      expect(await listChanges(history, { entryId, field })).toEqual([change]);
      expect(await history.recorded('b', 1)).toEqual(step.entries);
    });

    it('finds nothing under an id that cannot be stored', async () => {
      await begin(history);
      expect(await listChanges(history, { entryId: 'a\0', provider: '\0', field: '\ud800' })).toEqual([]);
      expect(await history.ofEntries(['a\0', 'a'])).toMatchObject([
        { fields: null },
        { fields: { provider: 'openai' } },
      ]);
    });

    it.each([
      ['the shortest digits of a price', 1.4e-8, 7e-8],
      ['a third and the smallest number', 1 / 3, 5e-324],
      ['a whole number and null', 2_000_000, null],
      ['a flag and its end', true, null],
      ['text with quotes, a NUL and a lone surrogate', 'it\'s "so" \\ \0 \ud800', ''],
      ['a table of prices', { search_context_size_low: 0.03, list: [{ range: [0, 1e6] }] }, [1, 'two', null]],
    ])('returns exactly the value of %s', async (_case, old, next) => {
      const change = aChange({ old, new: next });
      // The second argument is the number of the first change.
      await history.importChanges([change], 1);
      expect(await listChanges(history)).toEqual([change]);
    });

    it('imports a change once, and returns the number of new ones', async () => {
      const changes = [1, 2, 3].map((number) => aChange({ at: day(number) }));
      expect(await history.importChanges(changes.slice(0, 2), 1)).toBe(2);
      expect(await history.importChanges(changes, 1)).toBe(1);
      expect(await listChanges(history)).toEqual(changes.toReversed());
    });

    it('imports nothing that happened since the record began', async () => {
      await begin(history);
      expect(
        await history.importChanges(
          [9, 10, 11].map((number) => aChange({ at: day(number) })),
          1,
        ),
      ).toBe(1);
      await history.importSpan(day(5), day(12));
      await history.importSpan(day(11), day(12));
      expect(await history.spans()).toEqual([
        { source: 'imported', from: day(5), to: day(10) },
        { source: 'recorded', from: day(10), to: null },
      ]);
    });

    it('lengthens a span that is imported again, and never shortens it', async () => {
      for (const end of [5, 8, 6]) await history.importSpan(day(1), day(end));
      expect(await history.spans()).toEqual([{ source: 'imported', from: day(1), to: day(8) }]);
    });

    it('pages through every change once, newest first, also with equal times', async () => {
      const changes = Array.from({ length: 25 }, (_, place) =>
        aChange({ at: day(1 + Math.floor(place / 10)), entryId: `m${place}` }),
      );
      await history.importChanges(changes, 1);
      const pages: CatalogChange[][] = [];
      let after = null;
      for (let rows = await history.list(EVERYTHING, after, 4); rows.length > 0;) {
        pages.push(rows.map(({ change }) => change));
        after = rows.at(-1)?.position ?? null;
        rows = await history.list(EVERYTHING, after, 4);
      }
      expect(pages.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4, 4, 1]);
      expect(pages.flat()).toEqual(changes.toReversed());
    });

    it('filters by entry, provider, field, kind, operation (`op`) and time', async () => {
      const changes = [
        aChange({ at: day(1), entryId: 'x', provider: 'OpenAI' }),
        aChange({ at: day(2), entryId: 'y', provider: null, field: 'max_tokens' }),
        aChange({ at: day(3), entryId: 'y', provider: 'azure', op: 'added', field: null, new: {} }),
        aChange({ at: day(4), entryId: 'x', provider: 'openai', field: 'supports_vision', old: null, new: true }),
      ];
      await history.importChanges(changes, 1);
      const days = async (filters: Partial<ChangeFilters>): Promise<readonly number[]> =>
        (await listChanges(history, filters)).map(({ at }) => at.getUTCDate());
      expect(await days({ entryId: 'x' })).toEqual([4, 1]);
      expect(await days({ provider: 'openAI' })).toEqual([4, 1]);
      expect(await days({ field: 'max_tokens' })).toEqual([2]);
      expect(await days({ kind: 'price' })).toEqual([1]);
      expect(await days({ op: 'added' })).toEqual([3]);
      expect(await days({ from: day(2), to: day(4) })).toEqual([3, 2]);
      expect(await days({ entryId: 'y', op: 'changed', from: day(3) })).toEqual([]);
    });

    it('returns the price history of entries in the requested order, oldest first', async () => {
      await begin(history);
      const price = aChange({ at: day(1), entryId: 'a' });
      const addition = aChange({ at: day(2), entryId: 'a', op: 'added', field: null, old: null, new: null });
      const flag = aChange({ at: day(3), entryId: 'a', field: 'supports_vision' });
      await history.importChanges([price, addition, flag], 1);
      const spans = [{ source: 'recorded', from: day(10), to: null }];
      expect(await history.ofEntries(['gone', 'a'])).toEqual([
        { entryId: 'gone', changes: [], complete: true, fields: null, spans },
        {
          entryId: 'a',
          changes: [price, addition],
          complete: true,
          fields: { input_cost_per_token: 1e-6, provider: 'openai' },
          spans,
        },
      ]);
      expect(await history.ofEntries([])).toEqual([]);
    });

    it('reads the newest 500 changes of an entry and reports that there are more', async () => {
      const changes = Array.from({ length: 501 }, (_, place) => aChange({ at: new Date(place), new: place }));
      await history.importChanges(changes.slice(0, 500), 1);
      expect(await history.ofEntries(['openai/gpt'])).toMatchObject([{ complete: true, changes: { length: 500 } }]);
      await history.importChanges(changes, 1);
      expect(await history.ofEntries(['openai/gpt'])).toEqual([
        { entryId: 'openai/gpt', changes: changes.slice(1), complete: false, fields: null, spans: [] },
      ]);
    });
  });
}
