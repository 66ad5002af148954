import { Migration } from '@mikro-orm/migrations';

/** Plugins of Claude Code. */
export class Migration20261130181811_plugins extends Migration {
  override up(): void {
    this.addSql(`
      create table "plugin" (
        "id" text not null primary key,
        "name" text not null,
        "source" json not null,
        "version" text null,
        "description" text null,
        "author" json null,
        "homepage" text null,
        "keywords" json not null,
        "category" text null,
        "domain" text null,
        "namespace" text null,
        "enabled" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create unique index "plugin_name_unique" on "plugin" ("name")');
    this.addSql('create index "plugin_created_at_id_index" on "plugin" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "plugin"');
  }
}
