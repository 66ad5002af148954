import { Migration } from '@mikro-orm/migrations';

/** Stored decisions, and the right answers that callers reported. */
export class Migration20261123124000_decisions extends Migration {
  override up(): void {
    this.addSql(`
      create table "decision" (
        "id" text not null,
        "call_id" text not null,
        "model" text not null,
        "key_hash" text not null,
        "team_id" text null,
        "content" json not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "decision_created_at_id_index" on "decision" ("created_at", "id")');
    this.addSql('create index "decision_call_id_index" on "decision" ("call_id")');
    this.addSql(`
      create table "decision_outcome" (
        "id" text not null,
        "decision_id" text not null,
        "model" text not null,
        "kind" text not null,
        "source" text not null,
        "probabilities" json not null,
        "outcome" int not null,
        "key_hash" text not null,
        "team_id" text null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "decision_outcome_created_at_id_index" on "decision_outcome" ("created_at", "id")');
    this.addSql('create index "decision_outcome_updated_at_id_index" on "decision_outcome" ("updated_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "decision_outcome"');
    this.addSql('drop table "decision"');
  }
}
