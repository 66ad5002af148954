import { Migration } from '@mikro-orm/migrations';

/** End user, session and tags of calls, and an index for reports of a period. */
export class Migration20261123030000_spend_labels extends Migration {
  override up(): void {
    this.addSql(`
      alter table "spend_row" add "end_user" text null, add "session_id" text null, add "tags" text null
    `);
    this.addSql('create index "spend_row_started_at_index" on "spend_row" ("started_at")');
  }

  override down(): void {
    this.addSql('drop index "spend_row_started_at_index"');
    this.addSql('alter table "spend_row" drop column "end_user", drop column "session_id", drop column "tags"');
  }
}
