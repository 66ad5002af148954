import { Migration } from '@mikro-orm/migrations';

/** Agents that are made at run time. `sealed` contains their secrets as encrypted JSON. */
export class Migration20261130102424_a2a_agents extends Migration {
  override up(): void {
    this.addSql(`
      create table "a2a_agent" (
        "id" text not null primary key,
        "name" text not null,
        "settings" json not null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create unique index "a2a_agent_name_unique" on "a2a_agent" ("name")');
    this.addSql('create index "a2a_agent_created_at_id_index" on "a2a_agent" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "a2a_agent"');
  }
}
