import { Migration } from '@mikro-orm/migrations';

const TABLES = ['team', 'user_account'];

/**
 * Total spend of teams and users at the start of their budget windows, and an index for windows that have ended.
 * `spent_before` is decimal text of picodollars, because amounts may exceed 64 bits. Null counts as zero.
 */
export class Migration20261123060000_owner_windows extends Migration {
  override up(): void {
    for (const table of TABLES) {
      this.addSql(`alter table "${table}" add column "spent_before" text null`);
      this.addSql(`create index "${table}_budget_reset_at_index" on "${table}" ("budget_reset_at")`);
    }
  }

  override down(): void {
    for (const table of TABLES) {
      this.addSql(`drop index "${table}_budget_reset_at_index"`);
      this.addSql(`alter table "${table}" drop column "spent_before"`);
    }
  }
}
