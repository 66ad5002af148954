import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Reads the version text of a table of managed entities. It differs after every change of any row. */
export const fingerprintOf =
  ({ readRows }: Pick<Database, 'readRows'>, table: string): (() => Promise<string>) =>
  () =>
    readRows(async (db) => {
      const found = await sql<{ readonly id: string; readonly revision: number; readonly updated_at: unknown }>`
        select id, revision, updated_at from ${sql.table(table)} order by id`.execute(db);
      return JSON.stringify(found.rows.map(({ id, revision, updated_at: at }) => [id, revision, at]));
    });
