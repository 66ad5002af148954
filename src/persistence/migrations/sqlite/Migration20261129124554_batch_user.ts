import { Migration } from '@mikro-orm/migrations';

/** Users of batches. Those that are stored have none. */
export class Migration20261129124554_batch_user extends Migration {
  override up(): void {
    this.addSql(`alter table "upstream_object" add column "user_id" text null`);
  }

  override down(): void {
    this.addSql(`alter table "upstream_object" drop column "user_id"`);
  }
}
