import { Migration } from '@mikro-orm/migrations';

/** Rank of a trace's preview, from the start of its span (`TraceSummary.previewNs`). Null for stored traces. */
export class Migration20261122040000_trace_preview extends Migration {
  override up(): void {
    this.addSql('alter table "trace_summary" add column "preview_ns" bigint null');
  }

  override down(): void {
    this.addSql('alter table "trace_summary" drop column "preview_ns"');
  }
}
