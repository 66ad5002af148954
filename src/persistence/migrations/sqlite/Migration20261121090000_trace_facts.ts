import { Migration } from '@mikro-orm/migrations';

const OLD_COLUMNS = `"trace_no", "span_id", "parent_span_id", "name", "kind", "type", "agent", "service", "start_ns",
  "end_ns", "status", "error", "model", "input_tokens", "output_tokens", "input_preview", "request_id", "cost"`;
const PLACE_COLUMNS = '"body_no", "body_at", "payload"';

/**
 * Estimated costs of calls outside of the gateway, and further facts of spans and traces. Written by hand: spans are
 * copied, so that the payload stays the last column. A read of the other columns does not reach it.
 */
export class Migration20261121090000_trace_facts extends Migration {
  override up(): void {
    this.addSql('alter table "span" rename to "old_span"');
    this.createSpan(`
        "provider" text null,
        "framework" text null,
        "call_id" text null,
        "gateway" integer null,
        "source" text null,
        "estimate" bigint null,`);
    this.copySpans();
    this.addSql('alter table "trace_summary" add column "frameworks" text null');
    this.addSql('alter table "trace_summary" add column "estimate" bigint null');
    this.addSql('alter table "trace_summary" add column "estimated_calls" integer not null default 0');
    this.addSql('alter table "trace_summary" add column "source" text null');
    this.addSql('alter table "trace_summary" add column "redacted_ms" bigint null');
  }

  override down(): void {
    for (const column of ['frameworks', 'estimate', 'estimated_calls', 'source', 'redacted_ms'])
      this.addSql(`alter table "trace_summary" drop column "${column}"`);
    this.addSql('alter table "span" rename to "old_span"');
    this.createSpan('');
    this.copySpans();
  }

  private createSpan(more: string): void {
    this.addSql(`
      create table "span" (
        "trace_no" bigint not null,
        "span_id" text not null,
        "parent_span_id" text null,
        "name" text not null,
        "kind" text not null,
        "type" text not null,
        "agent" text not null,
        "service" text not null,
        "start_ns" bigint not null,
        "end_ns" bigint not null,
        "status" text not null,
        "error" text null,
        "model" text null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "input_preview" text not null,
        "request_id" text null,
        "cost" bigint null,${more}
        "body_no" bigint null,
        "body_at" integer null,
        "payload" text null,
        primary key ("trace_no", "span_id")
      ) without rowid
    `);
  }

  private copySpans(): void {
    const columns = `${OLD_COLUMNS}, ${PLACE_COLUMNS}`;
    this.addSql(`insert into "span" (${columns}) select ${columns} from "old_span" order by "trace_no", "span_id"`);
    this.addSql('drop table "old_span"');
  }
}
