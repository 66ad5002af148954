import { Migration } from '@mikro-orm/migrations';

/**
 * The gateway user whose call created a batch, for whom the cost of the batch is counted. Batches from before this
 * migration have none. The table also has files and responses, always without a user.
 */
export class Migration20261129124554_batch_user extends Migration {
  override up(): void {
    this.addSql(`alter table "upstream_object" add column "user_id" text null`);
  }

  override down(): void {
    this.addSql(`alter table "upstream_object" drop column "user_id"`);
  }
}
