import { Migration } from '@mikro-orm/migrations';

/** Runs of guardrails of a call. */
export class Migration20261124010100_spend_row_guardrails extends Migration {
  override up(): void {
    this.addSql(`alter table "spend_row" add column "guardrails" text null`);
  }

  override down(): void {
    this.addSql(`alter table "spend_row" drop column "guardrails"`);
  }
}
