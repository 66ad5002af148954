import { Migration } from '@mikro-orm/migrations';

/** Tracing keys, datasets and signals of lenses. */
export class Migration20261123123100_lens_neighbours extends Migration {
  override up(): void {
    this.addSql(`
      create table "lens_dataset" (
        "id" text not null primary key,
        "name" text not null,
        "agent_name" text not null,
        "team_id" text not null,
        "latest" integer not null,
        "case_count" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "lens_dataset_created_at_id_index" on "lens_dataset" ("created_at", "id")');
    this.addSql(`
      create table "lens_dataset_revision" (
        "id" text not null primary key,
        "dataset_id" text not null,
        "number" integer not null,
        "cases" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql(
      'create unique index "lens_dataset_revision_dataset_id_number_unique" on "lens_dataset_revision" ("dataset_id", "number")',
    );
    this.addSql(`
      create table "lens_signal_config" (
        "id" text not null primary key,
        "model" text not null,
        "threshold" double not null,
        "signals" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql(`
      create table "lens_trace_signal" (
        "id" text not null primary key,
        "trace_id" text not null,
        "trace_ref" text not null,
        "config_key" text not null,
        "span_count" integer not null,
        "status" text not null,
        "model" text not null,
        "scores" json not null,
        "trace_start_ms" bigint not null,
        "asked_ms" bigint not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "lens_trace_signal_trace_start_ms_index" on "lens_trace_signal" ("trace_start_ms")');
    this.addSql(`
      create table "lens_tracing_key" (
        "id" text not null primary key,
        "name" text not null,
        "token_hash" text not null,
        "team_id" text not null,
        "user_id" text not null,
        "organization_id" text not null,
        "expires_at" datetime null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create unique index "lens_tracing_key_token_hash_unique" on "lens_tracing_key" ("token_hash")');
    this.addSql('create index "lens_tracing_key_created_at_id_index" on "lens_tracing_key" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "lens_dataset"');
    this.addSql('drop table "lens_dataset_revision"');
    this.addSql('drop table "lens_signal_config"');
    this.addSql('drop table "lens_trace_signal"');
    this.addSql('drop table "lens_tracing_key"');
  }
}
