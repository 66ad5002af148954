import { Migration } from '@mikro-orm/migrations';

/** User or key that made a change, beside the name that the caller gave. Stored entries have none. */
export class Migration20261123184300_audit_actor extends Migration {
  override up(): void {
    this.addSql('alter table "audit_entry" add column "actor" text null');
  }

  override down(): void {
    this.addSql('alter table "audit_entry" drop column "actor"');
  }
}
