import { Migration } from '@mikro-orm/migrations';

/**
 * Expected costs of batches, runs of evaluations and responses whose cost is not recorded yet. Rows of the last 30 days
 * are read once more: those that have ended are closed then.
 */
export class Migration20261201044500_open_costs extends Migration {
  override up(): void {
    this.addSql(`alter table "upstream_object" add column "open_cost" text null`);
    this.addSql(`
      update "upstream_object" set "open_cost" = '0'
      where "kind" in ('batch', 'eval_run', 'response') and "removed_at" is null
        and "created_at" > (strftime('%s', 'now') - 2592000) * 1000
    `);
    this.addSql(`
      create index "upstream_object_open_index" on "upstream_object" ("kind", "created_at", "id")
      where "open_cost" is not null
    `);
  }

  override down(): void {
    this.addSql(`drop index "upstream_object_open_index"`);
    this.addSql(`alter table "upstream_object" drop column "open_cost"`);
  }
}
