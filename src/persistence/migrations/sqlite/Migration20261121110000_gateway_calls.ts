import { Migration } from '@mikro-orm/migrations';

/** Number of gateway calls of a trace. Other calls of the trace may describe the same calls. */
export class Migration20261121110000_gateway_calls extends Migration {
  override up(): void {
    this.addSql('alter table "trace_summary" add column "gateway_calls" integer not null default 0');
    // Spans that are older than the column `gateway` have a cost only if the gateway made them.
    this.addSql(`
      update trace_summary set gateway_calls = (
        select count(*) from span
        where span.trace_no = trace_summary.trace_no and span.type = 'llm' and (span.gateway = 1 or span.cost is not null)
      )
    `);
  }

  override down(): void {
    this.addSql('alter table "trace_summary" drop column "gateway_calls"');
  }
}
