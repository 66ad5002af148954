import { Migration } from '@mikro-orm/migrations';

const COLUMNS = ['end_user', 'session_id', 'tags'];

/** End user, session and tags of calls, and an index for reports of a period. */
export class Migration20261123030000_spend_labels extends Migration {
  override up(): void {
    for (const column of COLUMNS) this.addSql(`alter table "spend_row" add column "${column}" text null`);
    this.addSql('create index "spend_row_started_at_index" on "spend_row" ("started_at")');
  }

  override down(): void {
    this.addSql('drop index "spend_row_started_at_index"');
    for (const column of COLUMNS) this.addSql(`alter table "spend_row" drop column "${column}"`);
  }
}
