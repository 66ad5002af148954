import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/**
 * Records that a batch of a process is committed. Returns false for a batch that was committed before. Locks the row of
 * the process in `activity_process`.
 */
export async function recordIfNew(
  db: Kysely<Tables>,
  { process, number, now }: { readonly process: string; readonly number: number; readonly now: Date },
): Promise<boolean> {
  const rows = await db
    .insertInto('activity_process')
    .values({ id: process, last_batch: number, written_at: now.getTime() })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ last_batch: number, written_at: now.getTime() })
        .where('activity_process.last_batch', '<', number),
    )
    .returning('id')
    .execute();
  return rows.length > 0;
}
