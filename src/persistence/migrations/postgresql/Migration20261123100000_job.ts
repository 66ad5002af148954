import { Migration } from '@mikro-orm/migrations';

/** Background jobs. */
export class Migration20261123100000_job extends Migration {
  override up(): void {
    this.addSql(`
      create table "job" (
        "id" text not null,
        "kind" text not null,
        "subject" text not null,
        "status" text not null,
        "created_at" double precision not null,
        "due_at" double precision not null,
        "attempts" int not null,
        "most_attempts" int not null,
        "worker_id" text null,
        "finished_at" double precision null,
        "error" text not null,
        primary key ("id")
      )
    `);
    this.addSql('create index "job_kind_status_due_at_index" on "job" ("kind", "status", "due_at")');
    this.addSql('create index "job_finished_at_index" on "job" ("finished_at")');
  }

  override down(): void {
    this.addSql('drop table "job"');
  }
}
