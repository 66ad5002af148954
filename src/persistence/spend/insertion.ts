import { sql, type Kysely } from 'kysely';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import type { Database } from '../database/database.ts';
import { type EncodedRow, encodeRow, insertionInto, type RowTable, rowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { createWindowTotalsAdder } from './budget-windows.ts';
import { createDailySumsAdder } from './daily-sums.ts';
import { costsByKey, type StoredRow, storedRowOf } from './spend-rows.ts';

const keyOf = ({ traceId, spanId, id }: Pick<SpendRow, 'traceId' | 'spanId' | 'id'>): string =>
  `${traceId}:${spanId}:${id}`;

/** Distinct rows in the order of their keys, so that all processes lock rows in the same order. */
export const inOrder = (rows: readonly SpendRow[]): readonly SpendRow[] =>
  [...Map.groupBy(rows, keyOf)]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([, [first]]) => first ?? []);

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

/** Inserts spend rows and adds them to all sums, inside the transaction of the caller. */
export interface SpendInsertion {
  /** Stores rows that are all new, which is the usual case. Throws when one of them is stored already. */
  appendAll(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<void>;
  /** Stores only rows that are new, and resolves to them. The check of a row costs as much as storing it. */
  appendMissing(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<readonly SpendRow[]>;
}

export function createSpendInsertion({ orm, flavour }: Pick<Database, 'orm' | 'flavour'>): SpendInsertion {
  const spendRows = rowTable(orm, 'spend_row');
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

  return {
    async appendAll(db, rows) {
      const all = encoded(rows);
      await insert(db, all);
      await addToDays(db, all);
      await addToTotals(db, rows);
      await addToWindows(db, rows);
    },
    async appendMissing(db, rows) {
      const inserted = await insertNew<Pick<StoredRow, 'trace_id' | 'span_id' | 'id'>>(db, encoded(rows));
      const newKeys = new Set(inserted.map((row) => keyOf({ traceId: row.trace_id, spanId: row.span_id, id: row.id })));
      const fresh = rows.filter((row) => newKeys.has(keyOf(row)));
      await addToDays(db, encoded(fresh));
      await addToTotals(db, fresh);
      await addToWindows(db, fresh);
      return fresh;
    },
  };
}
