import { Migration } from '@mikro-orm/migrations';

/** What is noted of calls of traces that came in pieces. Of those that are stored it is noted when something comes to them. */
export class Migration20261122030000_call_note extends Migration {
  override up(): void {
    this.addSql(`
      create table "call_note" (
        "trace_no" bigint not null,
        "kind" int not null,
        "name" text not null,
        "span_id" text not null,
        primary key ("trace_no", "kind", "name", "span_id")
      )
    `);
  }

  override down(): void {
    this.addSql('drop table "call_note"');
  }
}
