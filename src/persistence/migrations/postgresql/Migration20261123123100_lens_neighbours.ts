import { Migration } from '@mikro-orm/migrations';

/** Tracing keys, datasets and signals of lenses. */
export class Migration20261123123100_lens_neighbours extends Migration {
  override up(): void {
    this.addSql(`
      create table "lens_dataset" (
        "id" text not null,
        "name" text not null,
        "agent_name" text not null,
        "team_id" text not null,
        "latest" int not null,
        "case_count" int not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "lens_dataset_created_at_id_index" on "lens_dataset" ("created_at", "id")');
    this.addSql(`
      create table "lens_dataset_revision" (
        "id" text not null,
        "dataset_id" text not null,
        "number" int not null,
        "cases" json not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql(
      'alter table "lens_dataset_revision" add constraint "lens_dataset_revision_dataset_id_number_unique" unique ("dataset_id", "number")',
    );
    this.addSql(`
      create table "lens_signal_config" (
        "id" text not null,
        "model" text not null,
        "threshold" double precision not null,
        "signals" json not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql(`
      create table "lens_trace_signal" (
        "id" text not null,
        "trace_id" text not null,
        "trace_ref" text not null,
        "config_key" text not null,
        "span_count" int not null,
        "status" text not null,
        "model" text not null,
        "scores" json not null,
        "trace_start_ms" bigint not null,
        "asked_ms" bigint not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "lens_trace_signal_trace_start_ms_index" on "lens_trace_signal" ("trace_start_ms")');
    this.addSql(`
      create table "lens_tracing_key" (
        "id" text not null,
        "name" text not null,
        "token_hash" text not null,
        "team_id" text not null,
        "user_id" text not null,
        "organization_id" text not null,
        "expires_at" timestamptz null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql(
      'alter table "lens_tracing_key" add constraint "lens_tracing_key_token_hash_unique" unique ("token_hash")',
    );
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
