import { Migration } from '@mikro-orm/migrations';

/** MCP servers that are stored at run time. `sealed` contains the params as encrypted JSON. */
export class Migration20261130101000_mcp_servers extends Migration {
  override up(): void {
    this.addSql(`
      create table "mcp_server" (
        "id" text not null,
        "name_key" text null,
        "alias_key" text null,
        "sealed" text not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('alter table "mcp_server" add constraint "mcp_server_name_key_unique" unique ("name_key")');
    this.addSql('alter table "mcp_server" add constraint "mcp_server_alias_key_unique" unique ("alias_key")');
    this.addSql('create index "mcp_server_created_at_id_index" on "mcp_server" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "mcp_server"');
  }
}
