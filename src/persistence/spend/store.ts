import { sql } from 'kysely';
import { ZERO_USD } from '../../domain/money.ts';
import type { CallSearch, SpendStore } from '../../domain/spend/spend-row.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/faults.ts';
import { createSpendInsertion, inOrder } from './insertion.ts';
import { createTotalsOf, createTotalsOfEarlierOwners } from './owner-totals.ts';
import { createSpendSince } from './spend-since.ts';
import { elementsOf, everyColumn, rowTable, textsIn, tuplesIn } from '../database/rows.ts';
import { transaction } from '../database/transaction.ts';
import { spendRowOf, type StoredRow } from './spend-rows.ts';

/** The trace ids that the gateway creates at this time, Unix ms, begin with these twelve hex digits. */
const traceIdPrefix = (ms: number): string => Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');

interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The intervals to search. Overlapping intervals are merged. */
function mergedIntervals(searched: readonly CallSearch[]): readonly Interval[] {
  const merged: Interval[] = [];
  for (const { fromMs: from, toMs: to } of searched.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const last = merged.at(-1);
    if (last === undefined || from > last.to) merged.push({ from, to });
    else if (to > last.to) merged[merged.length - 1] = { from: last.from, to };
  }
  return merged;
}

/** Spend store in SQL. */
export function createSpendStore(database: Database): SpendStore {
  const { orm, flavour, inFlight, readRows, transact } = database;
  const spendRows = rowTable(orm, 'spend_row');
  const allColumns = sql.join(everyColumn(spendRows));
  const totalsOf = createTotalsOf(database);
  const { appendAll, appendMissing } = createSpendInsertion(database);

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
      const idRanges = mergedIntervals(searched).map(({ from, to }) => [traceIdPrefix(from), traceIdPrefix(to + 1)]);
      const found = sql<StoredRow>`
        select ${allColumns}
        from ${elementsOf(flavour, sql`${JSON.stringify(idRanges)}`)} w cross join spend_row
        where spend_row.trace_id >= w.value ->> 0 and spend_row.trace_id < w.value ->> 1
          and (spend_row.response_id in ${idsOf('responseId')} or spend_row.call_id in ${idsOf('callId')})`;
      const { rows } = await readRows((db) => found.execute(db));
      return rows.map(spendRowOf);
    },
    async newestStart() {
      const row = await readRows((db) =>
        db
          .selectFrom('spend_row')
          .select(sql<number | null>`cast(max(started_at) as double precision)`.as('newest'))
          .executeTakeFirst(),
      );
      return row?.newest == null ? null : new Date(row.newest);
    },
    async removeErrorTexts(traces) {
      if (traces.length === 0) return;
      const keys = traces.map(({ traceId, keyHash }) => [storable(traceId), storable(keyHash)]);
      const ids = traces.map(({ traceId }) => storable(traceId));
      // The primary key begins with the trace id. The condition on the trace id alone lets the database use its index.
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
        const [result] = await db
          .deleteFrom('spend_row')
          .where(sql`(trace_id, span_id, id)`, 'in', oldest)
          .execute();
        return Number(result?.numDeletedRows ?? 0n);
      }),
    totalOf: async (keyHash) => (await totalsOf('key', [keyHash])).get(keyHash) ?? ZERO_USD,
    totalsOf: (keyHashes) => totalsOf('key', keyHashes),
    totalsOfOwners: totalsOf,
    totalsOfEarlierOwners: createTotalsOfEarlierOwners(database),
    totalsSince: createSpendSince(database),
  };
}
