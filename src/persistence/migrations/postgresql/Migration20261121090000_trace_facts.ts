import { Migration } from '@mikro-orm/migrations';

/** Estimated costs of calls outside of the gateway, and further facts of spans and traces. Written by hand. */
export class Migration20261121090000_trace_facts extends Migration {
  override up(): void {
    this.addSql(`
      alter table "span" add "provider" text null, add "framework" text null, add "call_id" text null,
        add "gateway" int null, add "source" text null, add "estimate" bigint null
    `);
    this.addSql(`
      alter table "trace_summary" add "frameworks" text null, add "estimate" bigint null,
        add "estimated_calls" int not null default 0, add "source" text null, add "redacted_ms" bigint null
    `);
  }

  override down(): void {
    this.addSql(`
      alter table "trace_summary" drop column "frameworks", drop column "estimate", drop column "estimated_calls",
        drop column "source", drop column "redacted_ms"
    `);
    this.addSql(`
      alter table "span" drop column "provider", drop column "framework", drop column "call_id",
        drop column "gateway", drop column "source", drop column "estimate"
    `);
  }
}
