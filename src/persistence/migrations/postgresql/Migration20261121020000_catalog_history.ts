import { Migration } from '@mikro-orm/migrations';

/** The dated history of the catalog. Generated, then reviewed. */
export class Migration20261121020000_catalog_history extends Migration {
  override up(): void {
    this.addSql(`
      create table "catalog_change" (
        "key" text not null,
        "at_ms" bigint not null,
        "not_before_ms" bigint null,
        "number" int not null,
        "entry_id" text not null,
        "provider" text null,
        "op" text not null,
        "field" text null,
        "kind" text null,
        "old_value" text not null,
        "new_value" text not null,
        "snapshot_id" text null,
        primary key ("key")
      )
    `);
    this.addSql('create index "catalog_change_at_ms_number_key_index" on "catalog_change" ("at_ms", "number", "key")');
    this.addSql(
      'create index "catalog_change_entry_id_at_ms_number_key_index" on "catalog_change" ("entry_id", "at_ms", "number", "key")',
    );
    this.addSql(
      'create index "catalog_change_field_at_ms_number_key_index" on "catalog_change" ("field", "at_ms", "number", "key")',
    );
    this.addSql(`
      create table "catalog_recorded" (
        "entry_id" text not null,
        "fields" text not null,
        primary key ("entry_id")
      )
    `);
    this.addSql(`
      create table "catalog_span" (
        "name" text not null,
        "from_ms" bigint not null,
        "to_ms" bigint null,
        "snapshot_id" text null,
        "taken_ms" bigint null,
        "seen_ms" bigint null,
        "confirmed_ms" bigint null,
        primary key ("name")
      )
    `);
  }

  override down(): void {
    this.addSql('drop table "catalog_span"');
    this.addSql('drop table "catalog_recorded"');
    this.addSql('drop table "catalog_change"');
  }
}
