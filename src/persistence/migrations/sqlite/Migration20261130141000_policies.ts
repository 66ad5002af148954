import { Migration } from '@mikro-orm/migrations';

/** Versions of policies, and where policies apply. */
export class Migration20261130141000_policies extends Migration {
  override up(): void {
    this.addSql(`
      create table "policy" (
        "id" text not null primary key,
        "name" text not null,
        "version" integer not null,
        "status" text not null,
        "parent_id" text null,
        "published_at" datetime null,
        "production_at" datetime null,
        "description" text null,
        "inherit" text null,
        "guardrails_add" json not null,
        "guardrails_remove" json not null,
        "condition" json null,
        "pipeline" json null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "policy_created_at_id_index" on "policy" ("created_at", "id")');
    this.addSql('create unique index "policy_name_version_unique" on "policy" ("name", "version")');
    this.addSql(`
      create table "policy_attachment" (
        "id" text not null primary key,
        "policy_name" text not null,
        "scope" text null,
        "teams" json not null,
        "keys" json not null,
        "models" json not null,
        "tags" json not null,
        "priority" integer null,
        "is_default" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "policy_attachment_created_at_id_index" on "policy_attachment" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "policy_attachment"');
    this.addSql('drop table "policy"');
  }
}
