import { Migration } from '@mikro-orm/migrations';

/** Lenses, their runs, findings, reviews, answers of models, and workers. */
export class Migration20261123110000_lens extends Migration {
  override up(): void {
    this.addSql(`
      create table "lens" (
        "id" text not null,
        "data" json not null,
        "reservations" json not null,
        "spent" text not null,
        "due_at" double precision null,
        "run_id" text not null,
        primary key ("id")
      )
    `);
    this.addSql('create index "lens_due_at_index" on "lens" ("due_at")');
    this.addSql(`
      create table "lens_run" (
        "id" text not null,
        "lens_id" text not null,
        "status" text not null,
        "created_at" double precision not null,
        "cost" text not null,
        "data" json not null,
        "sample" json null,
        primary key ("id")
      )
    `);
    this.addSql('create index "lens_run_lens_id_created_at_id_index" on "lens_run" ("lens_id", "created_at", "id")');
    this.addSql(`
      create table "lens_finding" (
        "id" text not null,
        "lens_id" text not null,
        "place" int not null,
        "status" text not null,
        "kind" text not null,
        "priority" text not null,
        "last_seen" double precision not null,
        "data" json not null,
        primary key ("id")
      )
    `);
    this.addSql('create index "lens_finding_lens_id_place_index" on "lens_finding" ("lens_id", "place")');
    this.addSql('create index "lens_finding_last_seen_id_index" on "lens_finding" ("last_seen", "id")');
    this.addSql(`
      create table "lens_review" (
        "id" text not null,
        "lens_id" text not null,
        "criteria_key" text not null,
        "execution_id" text not null,
        "content_version" text not null,
        "at" double precision not null,
        "data" json not null,
        primary key ("id")
      )
    `);
    this.addSql(
      'create index "lens_review_lens_id_criteria_key_execution_id_index" on "lens_review" ("lens_id", "criteria_key", "execution_id")',
    );
    this.addSql('create index "lens_review_at_index" on "lens_review" ("at")');
    this.addSql(`
      create table "lens_answer" (
        "id" text not null,
        "run_id" text not null,
        "data" json not null,
        "at" double precision not null,
        primary key ("id")
      )
    `);
    this.addSql('create index "lens_answer_run_id_index" on "lens_answer" ("run_id")');
    this.addSql('create index "lens_answer_at_index" on "lens_answer" ("at")');
    this.addSql(`
      create table "lens_worker" (
        "id" text not null,
        "name" text not null,
        "token_hash" text null,
        "analysis_key_id" text null,
        "last_seen" timestamptz not null,
        "revoked" boolean not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql('create unique index "lens_worker_token_hash_unique" on "lens_worker" ("token_hash")');
    this.addSql('create index "lens_worker_created_at_id_index" on "lens_worker" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "lens"');
    this.addSql('drop table "lens_run"');
    this.addSql('drop table "lens_finding"');
    this.addSql('drop table "lens_review"');
    this.addSql('drop table "lens_answer"');
    this.addSql('drop table "lens_worker"');
  }
}
