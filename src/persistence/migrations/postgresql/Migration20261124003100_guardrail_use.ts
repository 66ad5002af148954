import { Migration } from '@mikro-orm/migrations';

/** Numbers of runs of guardrails by day, and the runs that did not pass. */
export class Migration20261124003100_guardrail_use extends Migration {
  override up(): void {
    this.addSql(`
      create table "guardrail_day" (
        "day" text not null,
        "guardrail_id" text not null,
        "name" text not null,
        "kind" text not null,
        "passed" bigint not null,
        "flagged" bigint not null,
        "intervened" bigint not null,
        "failed" bigint not null,
        "latency_ms" double precision not null,
        primary key ("day", "guardrail_id")
      )
    `);
    this.addSql(`
      create table "guardrail_run" (
        "id" text not null,
        "guardrail_id" text not null,
        "name" text not null,
        "kind" text not null,
        "result" text not null,
        "mode" text not null,
        "at" bigint not null,
        "latency_ms" double precision not null,
        "model" text not null,
        "call_id" text not null,
        "trace_id" text not null,
        "key_hash" text not null,
        "team_id" text null,
        primary key ("id")
      )
    `);
    this.addSql('create index "guardrail_run_at_id_index" on "guardrail_run" ("at", "id")');
  }

  override down(): void {
    this.addSql('drop table "guardrail_day"');
    this.addSql('drop table "guardrail_run"');
  }
}
