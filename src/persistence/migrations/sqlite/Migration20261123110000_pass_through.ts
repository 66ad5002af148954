import { Migration } from '@mikro-orm/migrations';

/** Paths whose calls are forwarded to an address. */
export class Migration20261123110000_pass_through extends Migration {
  override up(): void {
    this.addSql(`
      create table "pass_through_endpoint" (
        "id" text not null primary key,
        "path" text not null,
        "target" text not null,
        "sealed_headers" text not null,
        "settings" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql(
      'create index "pass_through_endpoint_created_at_id_index" on "pass_through_endpoint" ("created_at", "id")',
    );
  }

  override down(): void {
    this.addSql('drop table "pass_through_endpoint"');
  }
}
