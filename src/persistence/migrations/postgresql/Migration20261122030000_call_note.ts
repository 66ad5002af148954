import { Migration } from '@mikro-orm/migrations';

/** Notes on the calls of pieced traces. A stored trace has none until further spans arrive. */
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
