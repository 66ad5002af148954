import { Migration } from '@mikro-orm/migrations';

/** Session, user and tags of a trace, and an index of the traces of a session. Traces that are stored have none. */
export class Migration20261123125140_trace_labels extends Migration {
  override up(): void {
    this.addSql(`alter table "trace_summary" add column "session_id" text null`);
    this.addSql(`alter table "trace_summary" add column "user_id" text null`);
    this.addSql(`alter table "trace_summary" add column "tags" text null`);
    this.addSql(`alter table "trace_summary" add column "root_labels" integer not null default 0`);
    this.addSql(
      `create index "trace_summary_session_id_start_ms_index" on "trace_summary" ("session_id", "start_ms") where "session_id" is not null`,
    );
  }

  override down(): void {
    this.addSql(`drop index "trace_summary_session_id_start_ms_index"`);
    this.addSql(`alter table "trace_summary" drop column "session_id"`);
    this.addSql(`alter table "trace_summary" drop column "user_id"`);
    this.addSql(`alter table "trace_summary" drop column "tags"`);
    this.addSql(`alter table "trace_summary" drop column "root_labels"`);
  }
}
