import { Migration } from '@mikro-orm/migrations';

/**
 * Scope of outcomes. Stored outcomes count for their team or key only: which of them an administrator reported is not
 * known.
 */
export class Migration20261123181900_outcome_scopes extends Migration {
  override up(): void {
    this.addSql(`alter table "decision_outcome" add column "scope" text not null default ''`);
    this.addSql(`
      update "decision_outcome"
      set "scope" = case when "team_id" is null then 'key:' || "key_hash" else 'team:' || "team_id" end
    `);
    this.addSql(
      'create index "decision_outcome_scope_updated_at_id_index" on "decision_outcome" ("scope", "updated_at", "id")',
    );
  }

  override down(): void {
    this.addSql('drop index "decision_outcome_scope_updated_at_id_index"');
    this.addSql('alter table "decision_outcome" drop column "scope"');
  }
}
