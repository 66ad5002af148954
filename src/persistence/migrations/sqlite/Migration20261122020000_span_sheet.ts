import { Migration } from '@mikro-orm/migrations';

/** Columns of `span`, in the order of their values in a block. */
const COLUMNS = [
  'span_id',
  'parent_span_id',
  'name',
  'kind',
  'type',
  'agent',
  'service',
  'start_ns',
  'end_ns',
  'status',
  'error',
  'model',
  'input_tokens',
  'output_tokens',
  'input_preview',
  'request_id',
  'cost',
  'body_at',
  'payload',
  'provider',
  'framework',
  'call_id',
  'gateway',
  'source',
  'estimate',
] as const;

/**
 * Blocks of spans, then called sheets (ADR 0039). Stored spans stay rows. Written by hand, from the differences that
 * the generator found. `down` turns the spans of blocks into rows.
 */
export class Migration20261122020000_span_sheet extends Migration {
  override up(): void {
    this.addSql('alter table "export_body" add column "heads" blob null');
    this.addSql(`
      create table "sheet_trace" (
        "trace_no" bigint not null,
        "body_no" bigint not null,
        "at" integer not null,
        "length" integer not null,
        "spans" integer not null,
        primary key ("trace_no")
      ) without rowid
    `);
  }

  override down(): void {
    const columns = COLUMNS.map((name) => `"${name}"`).join(', ');
    // 64-bit numbers are text in the JSON. The affinity of the columns converts them to numbers.
    const values = COLUMNS.map((_name, place) => `jsonb_extract(h.value, '$[${place}]')`).join(', ');
    this.addSql(`
      insert into "span" ("trace_no", "body_no", ${columns})
      select t."trace_no", t."body_no", ${values}
      from "sheet_trace" t
      join "export_body" b on b."body_no" = t."body_no",
        jsonb_each(cast(substr(b."heads", t."at" + 1, t."length") as text)) h
      where t."spans" > 0
    `);
    this.addSql('drop table "sheet_trace"');
    this.addSql('alter table "export_body" drop column "heads"');
  }
}
