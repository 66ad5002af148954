import { type Kysely, sql } from 'kysely';
import type { Database, SqlFlavour } from './database.ts';
import { ENTITIES, type Tables } from './tables.ts';
import { transaction } from './transaction.ts';

/** Size of the row that a probe inserts: enough to need pages that a full database does not have. */
const PROBE_BYTES = 65_536;
/** How long the probe waits for a table lock on PostgreSQL, where each table has its own locks, in ms. */
const LOCK_TIMEOUT_MS = 1_000;

const PROBE_BODY: Readonly<Record<SqlFlavour, string>> = {
  sqlite: `zeroblob(${PROBE_BYTES})`,
  postgresql: `decode(repeat('00', ${PROBE_BYTES}), 'hex')`,
};

/**
 * Inserts a row and deletes it in one transaction. On PostgreSQL it first takes the lock of a write on every table.
 * SQLite has one lock for the whole file.
 */
export function probeWrites({ orm, flavour }: Pick<Database, 'orm' | 'flavour'>): Promise<void> {
  const tables = ENTITIES.map(({ tableName }) => tableName);
  return transaction(orm, async (db: Kysely<Tables>) => {
    if (flavour === 'postgresql') {
      await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(db);
      await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in row exclusive mode`.execute(db);
    }
    const { body_no: inserted } = await db
      .insertInto('export_body')
      .values({ format: sql`'probe'`, compression: 'zstd', held_by: 0, bytes: sql.raw(PROBE_BODY[flavour]) })
      .returning(sql<string>`cast(body_no as text)`.as('body_no'))
      .executeTakeFirstOrThrow();
    await db.deleteFrom('export_body').where('body_no', '=', inserted).execute();
  });
}
