import { Migration } from '@mikro-orm/migrations';

/** Session, user and tags of a trace, and an index of the traces of a session. Traces that are stored have none. */
export class Migration20261123125140_trace_labels extends Migration {
  override up(): void {
    this.addSql(
      `alter table "trace_summary" add "session_id" text null, add "user_id" text null, add "tags" text null, add "root_labels" int not null default 0`,
    );
    this.addSql(
      `create index "trace_summary_session_id_start_ms_index" on "trace_summary" ("session_id", "start_ms") where "session_id" is not null`,
    );
  }

  override down(): void {
    this.addSql(`drop index "trace_summary_session_id_start_ms_index"`);
    this.addSql(
      `alter table "trace_summary" drop column "session_id", drop column "user_id", drop column "tags", drop column "root_labels"`,
    );
  }
}
