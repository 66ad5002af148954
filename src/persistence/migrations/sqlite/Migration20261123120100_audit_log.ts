import { Migration } from '@mikro-orm/migrations';

/** Changes of rows: who made them, and the row before and after. */
export class Migration20261123120100_audit_log extends Migration {
  override up(): void {
    this.addSql(`
      create table "audit_entry" (
        "id" text not null primary key,
        "created_at" datetime not null,
        "changed_by" text not null,
        "changed_by_key" text null,
        "action" text not null,
        "noun" text not null,
        "object_id" text not null,
        "team_id" text null,
        "key_hash" text null,
        "before" json null,
        "after" json null
      )
    `);
    this.addSql('create index "audit_entry_created_at_id_index" on "audit_entry" ("created_at", "id")');
    this.addSql('create index "audit_entry_object_id_created_at_index" on "audit_entry" ("object_id", "created_at")');
  }

  override down(): void {
    this.addSql('drop table "audit_entry"');
  }
}
