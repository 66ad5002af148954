import { sql } from 'kysely';
import type { Database } from './database.ts';

/**
 * Returns a function that reads a version text of a table of managed entities. Any change of a row changes the text.
 */
export const fingerprintOf =
  ({ readRows }: Pick<Database, 'readRows'>, table: string): (() => Promise<string>) =>
  () =>
    readRows(async (db) => {
      const found = await sql<{ readonly id: string; readonly revision: number; readonly updated_at: unknown }>`
        select id, revision, updated_at from ${sql.table(table)} order by id`.execute(db);
      return JSON.stringify(found.rows.map(({ id, revision, updated_at: at }) => [id, revision, at]));
    });
