import { Migration } from '@mikro-orm/migrations';

/** Budgets of further windows of a team. */
export class Migration20261124203404_team_budget_windows extends Migration {
  override up(): void {
    this.addSql('alter table "team" add column "budget_limits" json null');
  }

  override down(): void {
    this.addSql('alter table "team" drop column "budget_limits"');
  }
}
