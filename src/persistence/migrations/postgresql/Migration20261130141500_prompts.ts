import { Migration } from '@mikro-orm/migrations';

/** Versions of prompts. */
export class Migration20261130141500_prompts extends Migration {
  override up(): void {
    this.addSql(`
      create table "prompt" (
        "id" text not null,
        "prompt_id" text not null,
        "version" int not null,
        "params" json not null,
        "info" json not null,
        "environment" text not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "prompt_created_at_id_index" on "prompt" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "prompt"');
  }
}
