import { sql, type Kysely } from 'kysely';
import { ZERO_USD } from '../../domain/money.ts';
import type { CallSearch, SpendRow, SpendStore } from '../../domain/spend/spend-row.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/faults.ts';
import { createDailySumsAdder } from './daily-sums.ts';
import { createTotalsOf } from './owner-totals.ts';
import { createSpendSince } from './spend-since.ts';
import { createWindowTotalsAdder } from './budget-windows.ts';
import {
  elementsOf,
  type EncodedRow,
  encodeRow,
  everyColumn,
  insertionInto,
  type RowTable,
  rowTable,
  textsIn,
  tuplesIn,
} from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { costsByKey, spendRowOf, type StoredRow, storedRowOf } from './spend-rows.ts';

const keyOf = ({ traceId, spanId, id }: Pick<SpendRow, 'traceId' | 'spanId' | 'id'>): string =>
  `${traceId}:${spanId}:${id}`;

/** Distinct rows in the order of their keys, so that all processes lock in one order. */
const inOrder = (rows: readonly SpendRow[]): readonly SpendRow[] =>
  [...Map.groupBy(rows, keyOf)]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([, [first]]) => first ?? []);

/** First twelve hex digits of the trace ids that the gateway creates at this time, Unix ms. */
const timeHex = (ms: number): string => Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');

interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The intervals to search; overlapping ones are merged. */
function mergedIntervals(searched: readonly CallSearch[]): readonly Interval[] {
  const merged: Interval[] = [];
  for (const { fromMs: from, toMs: to } of searched.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const last = merged.at(-1);
    if (last === undefined || from > last.to) merged.push({ from, to });
    else if (to > last.to) merged[merged.length - 1] = { from: last.from, to };
  }
  return merged;
}

/** Returns a function that adds the costs of rows to the totals of their keys. */
export function createKeyTotalsAdder(
  flavour: Database['flavour'],
  totals: RowTable<'key_spend'>,
): (db: Kysely<Tables>, rows: readonly Pick<SpendRow, 'keyHash' | 'cost'>[]) => Promise<void> {
  const add = insertionInto(
    flavour,
    totals,
    sql`on conflict (key_hash) do update set total = key_spend.total + excluded.total`,
  );
  return async (db, rows) => {
    const costs = costsByKey(rows);
    if (costs.length === 0) return;
    await add(
      db,
      costs.map((cost) => encodeRow(totals, cost)),
    );
  };
}

/** Spend store in SQL. */
export function createSpendStore(database: Database): SpendStore {
  const { orm, flavour, inFlight, readRows, transact } = database;
  const spendRows = rowTable(orm, 'spend_row');
  const totalsOf = createTotalsOf(database);

  const insert = insertionInto(flavour, spendRows);
  const insertNew = insertionInto(
    flavour,
    spendRows,
    sql`on conflict (trace_id, span_id, id) do nothing returning trace_id, span_id, id`,
  );
  const addToTotals = createKeyTotalsAdder(flavour, rowTable(orm, 'key_spend'));
  const addToWindows = createWindowTotalsAdder(flavour, rowTable(orm, 'budget_window'));
  const addToDays = createDailySumsAdder(flavour, spendRows);
  const encoded = (rows: readonly SpendRow[]): readonly EncodedRow[] =>
    rows.map((row) => encodeRow(spendRows, storedRowOf(row)));

  /** The usual case: every row is new. Fails for all when one is stored already. */
  async function appendAll(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<void> {
    const all = encoded(rows);
    await insert(db, all);
    await addToDays(db, all);
    await addToTotals(db, rows);
    await addToWindows(db, rows);
  }

  /** Stores only rows that are new. The check of a row costs as much as storing it. */
  async function appendMissing(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<void> {
    const inserted = await insertNew<Pick<StoredRow, 'trace_id' | 'span_id' | 'id'>>(db, encoded(rows));
    const newKeys = new Set(inserted.map((row) => keyOf({ traceId: row.trace_id, spanId: row.span_id, id: row.id })));
    const fresh = rows.filter((row) => newKeys.has(keyOf(row)));
    await addToDays(db, encoded(fresh));
    await addToTotals(db, fresh);
    await addToWindows(db, fresh);
  }

  return {
    append: (rows) =>
      inFlight.write(async () => {
        if (rows.length === 0) return;
        const distinct = inOrder(rows);
        try {
          await transaction(orm, (db) => appendAll(db, distinct));
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          await transaction(orm, (db) => appendMissing(db, distinct));
        }
      }),
    async findBySpans(spanKeys) {
      if (spanKeys.length === 0) return [];
      const keys = spanKeys.map((key) => key.split(':', 2));
      const rows = await readRows((db) =>
        db
          .selectFrom('spend_row')
          .select(everyColumn(spendRows))
          .where(sql`(trace_id, span_id)`, 'in', tuplesIn(flavour, 2, keys))
          .$castTo<StoredRow>()
          .execute(),
      );
      return rows.map(spendRowOf);
    },
    async findElsewhere(searched) {
      if (searched.length === 0) return [];
      const idsOf = (name: 'responseId' | 'callId') =>
        textsIn(
          flavour,
          searched.flatMap((call) => (call[name] === null ? [] : storable(call[name]))),
        );
      const idRanges = mergedIntervals(searched).map(({ from, to }) => [timeHex(from), timeHex(to + 1)]);
      const found = sql<StoredRow>`
        select ${sql.join(everyColumn(spendRows))}
        from ${elementsOf(flavour, sql`${JSON.stringify(idRanges)}`)} w cross join spend_row
        where spend_row.trace_id >= w.value ->> 0 and spend_row.trace_id < w.value ->> 1
          and (spend_row.response_id in ${idsOf('responseId')} or spend_row.call_id in ${idsOf('callId')})`;
      const { rows } = await readRows((db) => found.execute(db));
      return rows.map(spendRowOf);
    },
    async removeErrorTexts(traces) {
      if (traces.length === 0) return;
      const keys = traces.map(({ traceId, keyHash }) => [storable(traceId), storable(keyHash)]);
      const ids = traces.map(({ traceId }) => storable(traceId));
      // A condition on the trace id alone, too: it is the first column of the primary key, so the index is used.
      await transact((db) =>
        db
          .updateTable('spend_row')
          .set({ error_message: null })
          .where('trace_id', 'in', textsIn(flavour, ids))
          .where(sql`(trace_id, key_hash)`, 'in', tuplesIn(flavour, 2, keys))
          .where('error_message', 'is not', null)
          .execute(),
      );
    },
    removeStartedBefore: (beforeMs, most) =>
      transact(async (db) => {
        const oldest = db
          .selectFrom('spend_row')
          .select(['trace_id', 'span_id', 'id'])
          .where('started_at', '<', beforeMs)
          .orderBy('started_at')
          .limit(most);
        const [done] = await db
          .deleteFrom('spend_row')
          .where(sql`(trace_id, span_id, id)`, 'in', oldest)
          .execute();
        return Number(done?.numDeletedRows ?? 0n);
      }),
    totalOf: async (keyHash) => (await totalsOf('key', [keyHash])).get(keyHash) ?? ZERO_USD,
    totalsOf: (keyHashes) => totalsOf('key', keyHashes),
    totalsOfOwners: totalsOf,
    totalsSince: createSpendSince(database),
  };
}
