import { Migration } from '@mikro-orm/migrations';

/** Texts that clients store for users and teams. */
export class Migration20261130120100_memory extends Migration {
  override up(): void {
    this.addSql(`
      create table "memory" (
        "id" text not null primary key,
        "name" text not null,
        "value" text not null,
        "metadata" json null,
        "user_id" text null,
        "team_id" text null,
        "owner" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create unique index "memory_owner_name_unique" on "memory" ("owner", "name")');
    this.addSql('create index "memory_created_at_id_index" on "memory" ("created_at", "id")');
    this.addSql('create index "memory_name_index" on "memory" ("name")');
  }

  override down(): void {
    this.addSql('drop table "memory"');
  }
}
