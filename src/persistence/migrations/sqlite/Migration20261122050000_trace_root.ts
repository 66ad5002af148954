import { Migration } from '@mikro-orm/migrations';

/**
 * Start of the root of a trace. Null for stored traces, whose root counts as starting with the trace: only a root that
 * starts before the whole trace replaces it.
 */
export class Migration20261122050000_trace_root extends Migration {
  override up(): void {
    this.addSql('alter table "trace_summary" add column "root_ns" bigint null');
  }

  override down(): void {
    this.addSql('alter table "trace_summary" drop column "root_ns"');
  }
}
