import { Migration } from '@mikro-orm/migrations';

/** Settings of keys, and budget windows: the spend of a key begins anew when its window ends. */
export class Migration20261123010000_key_settings extends Migration {
  override up(): void {
    this.addSql('alter table "virtual_key" add column "budget_duration" text null');
    this.addSql('alter table "virtual_key" add column "budget_reset_at" datetime null');
    this.addSql('alter table "virtual_key" add column "spent_before" text null');
    this.addSql('alter table "virtual_key" add column "next_reset_at" datetime null');
    this.addSql('alter table "virtual_key" add column "settings" json null');
    this.addSql('create index "virtual_key_next_reset_at_index" on "virtual_key" ("next_reset_at")');
  }

  /** Blocks keys with settings: the earlier version does not know the limits in the settings. */
  override down(): void {
    this.addSql('update "virtual_key" set "blocked" = 1 where "settings" is not null');
    this.addSql('drop index "virtual_key_next_reset_at_index"');
    this.addSql('alter table "virtual_key" drop column "settings"');
    this.addSql('alter table "virtual_key" drop column "next_reset_at"');
    this.addSql('alter table "virtual_key" drop column "spent_before"');
    this.addSql('alter table "virtual_key" drop column "budget_reset_at"');
    this.addSql('alter table "virtual_key" drop column "budget_duration"');
  }
}
