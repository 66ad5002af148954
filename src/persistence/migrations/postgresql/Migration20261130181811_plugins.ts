import { Migration } from '@mikro-orm/migrations';

/** Plugins of Claude Code. */
export class Migration20261130181811_plugins extends Migration {
  override up(): void {
    this.addSql(`
      create table "plugin" (
        "id" text not null,
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
        "enabled" boolean not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('alter table "plugin" add constraint "plugin_name_unique" unique ("name")');
    this.addSql('create index "plugin_created_at_id_index" on "plugin" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "plugin"');
  }
}
