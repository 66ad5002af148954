import { Migration } from '@mikro-orm/migrations';

/**
 * ASCII whitespace. Ids of other whitespace are not changed: readers treat them as null, and no condition of a reader
 * matches them.
 */
const BLANKS = ' \t\n\v\f\r';

/**
 * A blank id is no id. In keys and spend rows it becomes null. In owners of traces and upstream objects it becomes the
 * empty text, which means no team: what a key with a blank team created belongs to that key alone. Responses keep their
 * team: their content is sealed with it.
 */
export class Migration20261122060000_blank_ids extends Migration {
  override up(): void {
    for (const [table, column] of [
      ['virtual_key', 'alias'],
      ['virtual_key', 'team_id'],
      ['virtual_key', 'user_id'],
      ['spend_row', 'team_id'],
      ['spend_row', 'user_id'],
    ])
      this.addSql(`update "${table}" set "${column}" = null where btrim("${column}", '${BLANKS}') = ''`);
    for (const table of ['trace_summary', 'upstream_object'])
      this.addSql(`update "${table}" set "team_id" = '' where "team_id" <> '' and btrim("team_id", '${BLANKS}') = ''`);
  }

  /** Mended rows stay as they are: which of them were blank is not recorded. */
  override down(): void {}
}
