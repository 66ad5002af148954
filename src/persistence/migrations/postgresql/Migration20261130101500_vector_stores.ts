import { Migration } from '@mikro-orm/migrations';

/** Vector stores that are registered at run time. `sealed` contains the params as encrypted JSON. */
export class Migration20261130101500_vector_stores extends Migration {
  override up(): void {
    this.addSql(`
      create table "vector_store" (
        "id" text not null,
        "provider" text not null,
        "name" text null,
        "description" text null,
        "metadata" json null,
        "credential_name" text null,
        "sealed" text not null,
        "team_id" text null,
        "user_id" text null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "vector_store_created_at_id_index" on "vector_store" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "vector_store"');
  }
}
