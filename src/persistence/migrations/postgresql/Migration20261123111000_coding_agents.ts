import { Migration } from '@mikro-orm/migrations';

/** Coding agents that were launched through the gateway, and who launched them. */
export class Migration20261123111000_coding_agents extends Migration {
  override up(): void {
    this.addSql(`
      create table "coding_agent" (
        "id" text not null,
        "key_hash" text not null,
        "team_id" text null,
        "state" json not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "coding_agent_created_at_id_index" on "coding_agent" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "coding_agent"');
  }
}
