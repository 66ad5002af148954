import { Migration } from '@mikro-orm/migrations';

/** Spend of budget windows of providers, deployments and single models. */
export class Migration20261124001000_budget_windows extends Migration {
  override up(): void {
    this.addSql(
      `create table "budget_window" ("name" text not null primary key, "total" bigint not null, "end_ms" bigint not null)`,
    );
    this.addSql(`create index "budget_window_end_ms_index" on "budget_window" ("end_ms")`);
  }

  override down(): void {
    this.addSql(`drop table "budget_window"`);
  }
}
