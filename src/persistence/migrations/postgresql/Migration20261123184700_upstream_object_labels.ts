import { Migration } from '@mikro-orm/migrations';

/** Labels of the call that made a batch. Batches that are stored have none. */
export class Migration20261123184700_upstream_object_labels extends Migration {
  override up(): void {
    this.addSql(`alter table "upstream_object" add column "labels" text null`);
  }

  override down(): void {
    this.addSql(`alter table "upstream_object" drop column "labels"`);
  }
}
