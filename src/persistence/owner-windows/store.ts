import type { OwnerWindowStore } from '../../domain/owners/owner-windows.ts';
import type { Database } from '../database/database.ts';
import { preparedQuery } from '../database/prepared-query.ts';

/**
 * Reads whether a budget window of any user, team or budget has ended. One statement reads the indexes on the ends of
 * the windows.
 */
export function createOwnerWindowStore({ readRows }: Database): OwnerWindowStore {
  const ended = preparedQuery<{ now: Date }, { readonly id: string }>((db, given) =>
    db
      .selectFrom('user_account')
      .select('id')
      .where('budget_reset_at', '<=', given('now'))
      .unionAll(db.selectFrom('team').select('id').where('budget_reset_at', '<=', given('now')))
      .unionAll(db.selectFrom('budget').select('id').where('budget_reset_at', '<=', given('now')))
      .limit(1),
  );
  return {
    anyEnded: async (now) => (await readRows((db) => ended(db, { now }))).length > 0,
  };
}
