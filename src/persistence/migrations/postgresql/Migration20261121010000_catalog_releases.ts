import { Migration } from '@mikro-orm/migrations';

/** Quarantined prices of the catalog that administrators released. Generated, then reviewed. */
export class Migration20261121010000_catalog_releases extends Migration {
  override up(): void {
    this.addSql(`
      create table "catalog_release" (
        "entry_id" text not null,
        "field" text not null,
        "value" text not null,
        "released_at" bigint not null,
        "released_by" text not null,
        primary key ("entry_id", "field")
      )
    `);
  }

  override down(): void {
    this.addSql('drop table "catalog_release"');
  }
}
