import { Migration } from '@mikro-orm/migrations';

/** Total spend of a member of a team at the most recent reset of its budget, as text of picodollars. */
export class Migration20261124214724_member_spend extends Migration {
  override up(): void {
    this.addSql('alter table "team_member" add column "spent_before" text null');
  }

  override down(): void {
    this.addSql('alter table "team_member" drop column "spent_before"');
  }
}
