import { Migration } from '@mikro-orm/migrations';

/** Keys, traces and spend. Generated, then reviewed. */
export class Migration20261121000000_foundation extends Migration {
  override up(): void {
    this.addSql(`
      create table "key_spend" (
        "key_hash" text not null,
        "total" bigint not null,
        primary key ("key_hash")
      )
    `);
    this.addSql(`
      create table "span" (
        "trace_id" text not null,
        "trace_ref" text not null,
        "span_id" text not null,
        "parent_span_id" text null,
        "name" text not null,
        "kind" text not null,
        "type" text not null,
        "agent" text not null,
        "service" text not null,
        "start_ns" text not null,
        "end_ns" text not null,
        "status" text not null,
        "error" text null,
        "model" text null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "input_preview" text not null,
        "request_id" text null,
        "cost" bigint null,
        primary key ("trace_id", "trace_ref", "span_id")
      )
    `);
    this.addSql(`
      create table "span_payload" (
        "trace_id" text not null,
        "trace_ref" text not null,
        "span_id" text not null,
        "input" text not null,
        "output" text not null,
        "attributes" text not null,
        "resource_attributes" text not null,
        "events" text not null,
        "links" text not null,
        primary key ("trace_id", "trace_ref", "span_id")
      )
    `);
    this.addSql(`
      create table "spend_row" (
        "trace_id" text not null,
        "span_id" text not null,
        "id" text not null,
        "call_id" text not null,
        "response_id" text null,
        "call_type" text not null,
        "key_hash" text not null,
        "team_id" text null,
        "user_id" text null,
        "model_group" text not null,
        "model" text not null,
        "deployment_id" text not null,
        "provider" text not null,
        "input_tokens" bigint null,
        "output_tokens" bigint null,
        "cache_read_tokens" bigint null,
        "cache_write_tokens" bigint null,
        "reasoning_tokens" bigint null,
        "cost" bigint null,
        "status" text not null,
        "started_at" bigint not null,
        "ended_at" bigint not null,
        "first_byte_at" bigint null,
        "error_code" text null,
        "error_message" text null,
        primary key ("trace_id", "span_id", "id")
      )
    `);
    this.addSql(`
      create table "trace_summary" (
        "trace_id" text not null,
        "trace_ref" text not null,
        "team_id" text not null,
        "key_hash" text not null,
        "name" text not null,
        "service" text not null,
        "input_preview" text not null,
        "start_ns" text not null,
        "end_ns" text not null,
        "start_ms" bigint not null,
        "status" text not null,
        "span_count" int not null,
        "agent_names" text not null,
        "agent_invocations" int not null,
        "llm_calls" int not null,
        "tool_calls" int not null,
        "error_count" int not null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "models" text not null,
        "spend" bigint null,
        "priced_calls" int not null,
        primary key ("trace_id", "trace_ref")
      )
    `);
    this.addSql('create index "trace_summary_start_ms_trace_ref_index" on "trace_summary" ("start_ms", "trace_ref")');
    this.addSql(
      `create index "trace_summary_team_id_start_ms_trace_ref_index" on "trace_summary" ("team_id", "start_ms", "trace_ref") where "team_id" <> ''`,
    );
    this.addSql(
      `create index "trace_summary_key_hash_start_ms_trace_ref_index" on "trace_summary" ("key_hash", "start_ms", "trace_ref") where "team_id" = ''`,
    );
    this.addSql(`
      create table "virtual_key" (
        "hash" text not null,
        "name" text not null,
        "alias" text null,
        "role" text not null,
        "team_id" text null,
        "user_id" text null,
        "models" json not null,
        "max_budget" text null,
        "metadata" json not null,
        "blocked" boolean not null,
        "expires_at" timestamptz null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        primary key ("hash")
      )
    `);
    this.addSql('alter table "virtual_key" add constraint "virtual_key_alias_unique" unique ("alias")');
  }

  override down(): void {
    this.addSql('drop table "virtual_key"');
    this.addSql('drop table "trace_summary"');
    this.addSql('drop table "spend_row"');
    this.addSql('drop table "span_payload"');
    this.addSql('drop table "span"');
    this.addSql('drop table "key_spend"');
  }
}
