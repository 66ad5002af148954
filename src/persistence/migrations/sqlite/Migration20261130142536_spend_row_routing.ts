import { Migration } from '@mikro-orm/migrations';

/** Decision of the auto router that selected the model of a call, as JSON text; null for other calls. */
export class Migration20261130142536_spend_row_routing extends Migration {
  override up(): void {
    this.addSql(`alter table "spend_row" add column "routing" text null`);
    this.addSql(`create index "spend_row_routed_index" on "spend_row" ("started_at") where "routing" is not null`);
  }

  override down(): void {
    this.addSql(`drop index "spend_row_routed_index"`);
    this.addSql(`alter table "spend_row" drop column "routing"`);
  }
}
