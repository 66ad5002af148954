import { type Kysely, type RawBuilder, sql } from 'kysely';
import {
  type ActivityCounts,
  type ActivityField,
  type ActivityGroup,
  type ActivityQuery,
  type ActivityRow,
  type GatewayActivityStore,
  pickFields,
} from '../../domain/gateway-activity/gateway-activity.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { columnNames, encodeValues, rowsFrom, rowTable, textsIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { recordIfNew } from './batches.ts';

/**
 * Time in ms for which a row of `activity_process` is kept. A process retries the commit of a batch for a shorter time.
 */
const PROCESS_RETENTION_MS = 7 * 86_400_000;

const COLUMNS: Readonly<Record<ActivityField, RawBuilder<string>>> = {
  day: sql.ref('gateway_activity.day'),
  category: sql.ref('gateway_activity.category'),
  route: sql.ref('gateway_activity.route'),
};

type StoredGroup = ActivityGroup['of'] & ActivityCounts;

const keyOf = ({ day, category, route }: ActivityRow): string => `${day} ${category} ${route}`;

/** Counts of requests as rows. A batch is added in one transaction. */
export function createGatewayActivityStore({ orm, flavour, readRows, transact }: Database): GatewayActivityStore {
  const table = rowTable(orm, 'gateway_activity');

  async function addRows(db: Kysely<Tables>, rows: readonly ActivityRow[]): Promise<void> {
    // In the order of their keys, so that two processes lock rows in one order.
    const encoded = rows
      .toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
      .map((row) => encodeValues(table, row));
    await db
      .insertInto('gateway_activity')
      .columns(columnNames(table))
      .expression(rowsFrom(flavour, table, encoded))
      .onConflict((conflict) =>
        conflict.columns(['day', 'category', 'route']).doUpdateSet({
          succeeded: sql`gateway_activity.succeeded + excluded.succeeded`,
          failed: sql`gateway_activity.failed + excluded.failed`,
        }),
      )
      .execute();
  }

  async function removeExpiredProcesses(db: Kysely<Tables>, now: Date): Promise<void> {
    await db
      .deleteFrom('activity_process')
      .where('written_at', '<', now.getTime() - PROCESS_RETENTION_MS)
      .execute();
  }

  function groupsOf({ from, to, by, categories, routes }: ActivityQuery): RawBuilder<StoredGroup> {
    const fields = by.map((field) => COLUMNS[field]);
    const selected = by.map((field) => sql`${COLUMNS[field]} as ${sql.ref(field)}`);
    const conditions = [sql`day >= ${storable(from)}`, sql`day <= ${storable(to)}`];
    if (categories !== undefined) conditions.push(sql`category in ${textsIn(flavour, categories)}`);
    if (routes !== undefined) conditions.push(sql`route in ${textsIn(flavour, routes.map(storable))}`);
    const sums = [
      sql`cast(coalesce(sum(gateway_activity.succeeded), 0) as double precision) as succeeded`,
      sql`cast(coalesce(sum(gateway_activity.failed), 0) as double precision) as failed`,
    ];
    const grouped = fields.length === 0 ? sql`` : sql`group by ${sql.join(fields)} order by ${sql.join(fields)}`;
    return sql`select ${sql.join([...selected, ...sums])} from gateway_activity
      where ${sql.join(conditions, sql` and `)} ${grouped}`;
  }

  return {
    add: ({ process, number, rows }, now) =>
      transact(async (db) => {
        if (!(await recordIfNew(db, { process, number, now }))) return;
        await addRows(db, rows);
        const isFirstBatch = number === 1;
        if (isFirstBatch) await removeExpiredProcesses(db, now);
      }),
    groups: (wanted) =>
      readRows(async (db) => {
        const { rows } = await groupsOf(wanted).execute(db);
        return rows.map((row) => ({ of: pickFields(row, wanted.by), succeeded: row.succeeded, failed: row.failed }));
      }),
  };
}
