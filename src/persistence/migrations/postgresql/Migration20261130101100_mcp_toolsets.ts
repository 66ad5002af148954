import { Migration } from '@mikro-orm/migrations';

/** Named selections of tools of MCP servers. */
export class Migration20261130101100_mcp_toolsets extends Migration {
  override up(): void {
    this.addSql(`
      create table "mcp_toolset" (
        "id" text not null,
        "name" text not null,
        "name_key" text not null,
        "description" text null,
        "tools" json not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('alter table "mcp_toolset" add constraint "mcp_toolset_name_key_unique" unique ("name_key")');
    this.addSql('create index "mcp_toolset_created_at_id_index" on "mcp_toolset" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "mcp_toolset"');
  }
}
