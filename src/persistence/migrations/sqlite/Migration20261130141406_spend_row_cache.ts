import { Migration } from '@mikro-orm/migrations';

/** Key of the cached answer that a call got; null for other calls. */
export class Migration20261130141406_spend_row_cache extends Migration {
  override up(): void {
    this.addSql(`alter table "spend_row" add column "cache_hit_key" text null`);
    this.addSql(
      `create index "spend_row_cache_hit_index" on "spend_row" ("started_at") where cache_hit_key is not null`,
    );
  }

  override down(): void {
    this.addSql(`drop index "spend_row_cache_hit_index"`);
    this.addSql(`alter table "spend_row" drop column "cache_hit_key"`);
  }
}
