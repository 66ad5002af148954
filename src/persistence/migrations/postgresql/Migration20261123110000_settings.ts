import { Migration } from '@mikro-orm/migrations';

/** Settings that are stored in the database, by section. */
export class Migration20261123110000_settings extends Migration {
  override up(): void {
    this.addSql(`
      create table "settings_section" (
        "id" text not null,
        "content" json not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
  }

  override down(): void {
    this.addSql('drop table "settings_section"');
  }
}
