import { Migration } from '@mikro-orm/migrations';

/** Calls of a batch, or of its input file. Null for stored batches and files. */
export class Migration20261124002000_batch_calls extends Migration {
  override up(): void {
    this.addSql(`alter table "upstream_object" add column "calls" text null`);
  }

  override down(): void {
    this.addSql(`alter table "upstream_object" drop column "calls"`);
  }
}
