import { Migration } from '@mikro-orm/migrations';

/** Names for vector stores of providers. */
export class Migration20261130211500_vector_store_indexes extends Migration {
  override up(): void {
    this.addSql(`
      create table "vector_store_index" (
        "id" text not null primary key,
        "name" text not null,
        "store_id" text not null,
        "account_name" text not null,
        "info" json null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create unique index "vector_store_index_name_unique" on "vector_store_index" ("name")');
    this.addSql('create index "vector_store_index_created_at_id_index" on "vector_store_index" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "vector_store_index"');
  }
}
