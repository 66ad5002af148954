import { Migration } from '@mikro-orm/migrations';

/** Deployments, credentials and fallbacks that administrators make at run time. */
export class Migration20261123071000_models extends Migration {
  override up(): void {
    this.addSql(`
      create table "deployment" (
        "id" text not null primary key,
        "model_group" text not null,
        "info" json not null,
        "blocked" integer not null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "deployment_created_at_id_index" on "deployment" ("created_at", "id")');
    this.addSql(`
      create table "credential" (
        "id" text not null primary key,
        "display_name" text null,
        "info" json not null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "credential_created_at_id_index" on "credential" ("created_at", "id")');
    this.addSql(`
      create table "model_fallback" (
        "id" text not null primary key,
        "model" text not null,
        "type" text not null,
        "targets" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "model_fallback_created_at_id_index" on "model_fallback" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "model_fallback"');
    this.addSql('drop table "credential"');
    this.addSql('drop table "deployment"');
  }
}
