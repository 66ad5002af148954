import { Migration } from '@mikro-orm/migrations';

/** The spend of members of teams before their spend was set. */
export class Migration20261124214724_member_spend extends Migration {
  override up(): void {
    this.addSql('alter table "team_member" add column "spent_before" text null');
  }

  override down(): void {
    this.addSql('alter table "team_member" drop column "spent_before"');
  }
}
