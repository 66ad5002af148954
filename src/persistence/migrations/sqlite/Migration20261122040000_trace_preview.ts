import { Migration } from '@mikro-orm/migrations';

/** When the span began that lends a trace its preview. Of traces that are stored, nobody lends any until more comes to them. */
export class Migration20261122040000_trace_preview extends Migration {
  override up(): void {
    this.addSql('alter table "trace_summary" add column "preview_ns" bigint null');
  }

  override down(): void {
    this.addSql('alter table "trace_summary" drop column "preview_ns"');
  }
}
