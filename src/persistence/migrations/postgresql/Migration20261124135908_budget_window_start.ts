import { Migration } from '@mikro-orm/migrations';

/** Start of the stored window of a budget row, and an index for windows that have ended. */
export class Migration20261124135908_budget_window_start extends Migration {
  override up(): void {
    this.addSql('alter table "budget" add column "counts_from" timestamptz null');
    this.addSql('create index "budget_budget_reset_at_index" on "budget" ("budget_reset_at")');
  }

  override down(): void {
    this.addSql('drop index "budget_budget_reset_at_index"');
    this.addSql('alter table "budget" drop column "counts_from"');
  }
}
