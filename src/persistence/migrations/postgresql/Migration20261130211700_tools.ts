import { Migration } from '@mikro-orm/migrations';

/** Tools of models, their policies and their use. */
export class Migration20261130211700_tools extends Migration {
  override up(): void {
    this.addSql(`
      create table "tool" (
        "id" text not null,
        "name" text not null,
        "origin" text not null,
        "input_policy" text not null,
        "output_policy" text not null,
        "call_count" bigint not null,
        "key_hash" text null,
        "key_alias" text null,
        "team_id" text null,
        "user_agent" text null,
        "last_used_at" timestamptz null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql(`
      create table "tool_override" (
        "id" text not null,
        "tool_name" text not null,
        "scope" text not null,
        "team_id" text null,
        "key_hash" text null,
        "alias" text null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql(`
      create table "tool_day" (
        "day" text not null,
        "name" text not null,
        "calls" bigint not null,
        "cost" bigint not null,
        "tokens" bigint not null,
        primary key ("day", "name")
      )
    `);
    this.addSql(`
      create table "tool_call" (
        "id" text not null,
        "name" text not null,
        "request_id" text not null,
        "at" bigint not null,
        "model" text not null,
        "cost" bigint null,
        "tokens" bigint not null,
        primary key ("id")
      )
    `);
    this.addSql('alter table "tool" add constraint "tool_name_unique" unique ("name")');
    this.addSql('create index "tool_created_at_id_index" on "tool" ("created_at", "id")');
    this.addSql(
      'alter table "tool_override" add constraint "tool_override_tool_name_scope_unique" unique ("tool_name", "scope")',
    );
    this.addSql('create index "tool_call_name_at_id_index" on "tool_call" ("name", "at", "id")');
    this.addSql('create index "tool_call_at_index" on "tool_call" ("at")');
  }

  override down(): void {
    this.addSql('drop table "tool_call"');
    this.addSql('drop table "tool_day"');
    this.addSql('drop table "tool_override"');
    this.addSql('drop table "tool"');
  }
}
