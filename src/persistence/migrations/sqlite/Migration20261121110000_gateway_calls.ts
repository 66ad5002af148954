import { Migration } from '@mikro-orm/migrations';

/** How many of a trace's calls the gateway made: where there are others, some may tell of the same. */
export class Migration20261121110000_gateway_calls extends Migration {
  override up(): void {
    this.addSql('alter table "trace_summary" add column "gateway_calls" integer not null default 0');
    // Before it was kept of a span that the gateway made it, only the gateway's had a cost.
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
