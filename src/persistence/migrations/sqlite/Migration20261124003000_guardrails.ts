import { Migration } from '@mikro-orm/migrations';

/** Guardrails that are made at run time. `sealed` contains the params as encrypted JSON. */
export class Migration20261124003000_guardrails extends Migration {
  override up(): void {
    this.addSql(`
      create table "guardrail" (
        "id" text not null primary key,
        "name" text not null,
        "kind" text not null,
        "modes" json not null,
        "default_on" integer not null,
        "sealed" text not null,
        "info" json null,
        "team_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create unique index "guardrail_name_unique" on "guardrail" ("name")');
    this.addSql('create index "guardrail_created_at_id_index" on "guardrail" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "guardrail"');
  }
}
