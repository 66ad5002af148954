import { Migration } from '@mikro-orm/migrations';

/** Versions of policies, and where policies apply. */
export class Migration20261130141000_policies extends Migration {
  override up(): void {
    this.addSql(`
      create table "policy" (
        "id" text not null,
        "name" text not null,
        "version" int not null,
        "status" text not null,
        "parent_id" text null,
        "published_at" timestamptz null,
        "production_at" timestamptz null,
        "description" text null,
        "inherit" text null,
        "guardrails_add" json not null,
        "guardrails_remove" json not null,
        "condition" json null,
        "pipeline" json null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "policy_created_at_id_index" on "policy" ("created_at", "id")');
    this.addSql('alter table "policy" add constraint "policy_name_version_unique" unique ("name", "version")');
    this.addSql(`
      create table "policy_attachment" (
        "id" text not null,
        "policy_name" text not null,
        "scope" text null,
        "teams" json not null,
        "keys" json not null,
        "models" json not null,
        "tags" json not null,
        "priority" int null,
        "is_default" boolean not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "policy_attachment_created_at_id_index" on "policy_attachment" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "policy_attachment"');
    this.addSql('drop table "policy"');
  }
}
