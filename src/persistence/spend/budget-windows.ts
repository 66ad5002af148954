import { sql, type Kysely } from 'kysely';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import type { Database } from '../database/database.ts';
import { encodeRow, insertionInto, type RowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { costsByWindow } from './spend-rows.ts';

/** Time in ms for which the total of an ended window is kept: calls that began in the window may end later. */
const RETENTION_MS = 2 * 86_400_000;
/** Minimum time between removals of ended windows, in ms. */
const REMOVAL_MS = 3_600_000;

/**
 * Returns a function that adds the amounts of rows to the totals of their budget windows, and removes windows that
 * ended long ago.
 */
export function createWindowTotalsAdder(
  flavour: Database['flavour'],
  table: RowTable<'budget_window'>,
): (db: Kysely<Tables>, rows: readonly Pick<SpendRow, 'cost' | 'windows'>[]) => Promise<void> {
  const add = insertionInto(
    flavour,
    table,
    sql`on conflict (name) do update set total = budget_window.total + excluded.total`,
  );
  let nextRemovalMs = 0;
  return async (db, rows) => {
    const costs = costsByWindow(rows);
    if (costs.length === 0) return;
    await add(
      db,
      costs.map(({ window: name, end_ms, total }) => encodeRow(table, { name, end_ms, total })),
    );
    const nowMs = Date.now();
    if (nowMs < nextRemovalMs) return;
    nextRemovalMs = nowMs + REMOVAL_MS;
    await db
      .deleteFrom('budget_window')
      // A window without end has the end 0.
      .where('end_ms', '>', 0)
      .where('end_ms', '<', nowMs - RETENTION_MS)
      .execute();
  };
}
