import { Migration } from '@mikro-orm/migrations';

/** Access groups of teams and keys. */
export class Migration20261123101000_access_groups extends Migration {
  override up(): void {
    this.addSql(`
      create table "access_group" (
        "id" text not null,
        "name" text not null,
        "description" text null,
        "models" json not null,
        "mcp_server_ids" json not null,
        "agent_ids" json not null,
        "team_ids" json not null,
        "key_ids" json not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('alter table "access_group" add constraint "access_group_name_unique" unique ("name")');
    this.addSql('create index "access_group_created_at_id_index" on "access_group" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "access_group"');
  }
}
