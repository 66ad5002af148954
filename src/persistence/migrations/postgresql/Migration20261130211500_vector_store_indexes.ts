import { Migration } from '@mikro-orm/migrations';

/** Names for vector stores of providers. */
export class Migration20261130211500_vector_store_indexes extends Migration {
  override up(): void {
    this.addSql(`
      create table "vector_store_index" (
        "id" text not null,
        "name" text not null,
        "store_id" text not null,
        "account_name" text not null,
        "info" json null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('alter table "vector_store_index" add constraint "vector_store_index_name_unique" unique ("name")');
    this.addSql('create index "vector_store_index_created_at_id_index" on "vector_store_index" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "vector_store_index"');
  }
}
