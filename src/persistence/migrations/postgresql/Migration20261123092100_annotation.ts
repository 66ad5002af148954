import { Migration } from '@mikro-orm/migrations';

/** Labels, scores and notes on traces and spans. */
export class Migration20261123092100_annotation extends Migration {
  override up(): void {
    this.addSql(`
      create table "annotation" (
        "id" text not null,
        "trace_id" text not null,
        "trace_ref" text not null,
        "span_id" text not null,
        "team_id" text not null,
        "key_hash" text not null,
        "trace_start_ms" bigint not null,
        "name" text not null,
        "annotator" text not null,
        "label" text null,
        "score" double precision null,
        "note" text null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create index "annotation_created_at_id_index" on "annotation" ("created_at", "id")');
    this.addSql('create index "annotation_trace_start_ms_index" on "annotation" ("trace_start_ms")');
    this.addSql(
      'alter table "annotation" add constraint "annotation_trace_id_trace_ref_span_id_name_created_by_unique" unique ("trace_id", "trace_ref", "span_id", "name", "created_by")',
    );
  }

  override down(): void {
    this.addSql('drop table "annotation"');
  }
}
