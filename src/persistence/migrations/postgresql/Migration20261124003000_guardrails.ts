import { Migration } from '@mikro-orm/migrations';

/** Guardrails that are made at run time. `sealed` contains the params as encrypted JSON. */
export class Migration20261124003000_guardrails extends Migration {
  override up(): void {
    this.addSql(`
      create table "guardrail" (
        "id" text not null,
        "name" text not null,
        "kind" text not null,
        "modes" json not null,
        "default_on" boolean not null,
        "sealed" text not null,
        "info" json null,
        "team_id" text null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('alter table "guardrail" add constraint "guardrail_name_unique" unique ("name")');
    this.addSql('create index "guardrail_created_at_id_index" on "guardrail" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "guardrail"');
  }
}
