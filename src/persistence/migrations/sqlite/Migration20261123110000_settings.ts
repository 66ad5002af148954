import { Migration } from '@mikro-orm/migrations';

/** Settings that are stored in the database, by section. */
export class Migration20261123110000_settings extends Migration {
  override up(): void {
    this.addSql(`
      create table "settings_section" (
        "id" text not null primary key,
        "content" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
  }

  override down(): void {
    this.addSql('drop table "settings_section"');
  }
}
