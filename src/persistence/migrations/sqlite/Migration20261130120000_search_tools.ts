import { Migration } from '@mikro-orm/migrations';

/** Search tools that are stored at run time. `sealed` contains the params as encrypted JSON. */
export class Migration20261130120000_search_tools extends Migration {
  override up(): void {
    this.addSql(`
      create table "search_tool" (
        "id" text not null primary key,
        "name" text not null,
        "info" json null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create unique index "search_tool_name_unique" on "search_tool" ("name")');
    this.addSql('create index "search_tool_created_at_id_index" on "search_tool" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "search_tool"');
  }
}
