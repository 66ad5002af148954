import { Migration } from '@mikro-orm/migrations';

/** When the root of a trace began. Of traces that are stored it is not known: their root gives way to one before all of it. */
export class Migration20261122050000_trace_root extends Migration {
  override up(): void {
    this.addSql('alter table "trace_summary" add column "root_ns" bigint null');
  }

  override down(): void {
    this.addSql('alter table "trace_summary" drop column "root_ns"');
  }
}
