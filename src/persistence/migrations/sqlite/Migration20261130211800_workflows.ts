import { Migration } from '@mikro-orm/migrations';

/** Runs of workflows, with their events and messages. */
export class Migration20261130211800_workflows extends Migration {
  override up(): void {
    this.addSql(`
      create table "workflow_run" (
        "id" text not null primary key,
        "session_id" text not null,
        "type" text not null,
        "status" text not null,
        "key_hash" text not null,
        "input" json null,
        "output" json null,
        "metadata" json null,
        "size" bigint not null,
        "event_count" integer not null,
        "message_count" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql(`
      create table "workflow_event" (
        "run_id" text not null,
        "sequence" integer not null,
        "id" text not null,
        "type" text not null,
        "step_name" text not null,
        "data" text null,
        "at" bigint not null,
        primary key ("run_id", "sequence")
      )
    `);
    this.addSql(`
      create table "workflow_message" (
        "run_id" text not null,
        "sequence" integer not null,
        "id" text not null,
        "role" text not null,
        "content" text not null,
        "session_id" text null,
        "at" bigint not null,
        primary key ("run_id", "sequence")
      )
    `);
    this.addSql('create index "workflow_run_created_at_id_index" on "workflow_run" ("created_at", "id")');
    this.addSql(
      'create index "workflow_run_key_hash_created_at_id_index" on "workflow_run" ("key_hash", "created_at", "id")',
    );
  }

  override down(): void {
    this.addSql('drop table "workflow_message"');
    this.addSql('drop table "workflow_event"');
    this.addSql('drop table "workflow_run"');
  }
}
