import { Migration } from '@mikro-orm/migrations';

/** An amount that is added to a budget until a time. */
export class Migration20261124143500_temporary_budgets extends Migration {
  override up(): void {
    this.addSql('alter table "budget" add column "temp_budget_increase" text null');
    this.addSql('alter table "budget" add column "temp_budget_expiry" datetime null');
  }

  override down(): void {
    this.addSql('alter table "budget" drop column "temp_budget_expiry"');
    this.addSql('alter table "budget" drop column "temp_budget_increase"');
  }
}
