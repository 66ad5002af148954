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
/** Types of the columns that are not text. */
const TYPES: Readonly<Record<string, string>> = {
  start_ns: 'bigint',
  end_ns: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cost: 'bigint',
  body_at: 'int',
  gateway: 'int',
  estimate: 'bigint',
};

/**
 * Blocks of spans, then called sheets (ADR 0039). Stored spans stay rows. Written by hand, from the differences that
 * the generator found. `down` turns the spans of blocks into rows.
 */
export class Migration20261122020000_span_sheet extends Migration {
  override up(): void {
    this.addSql('alter table "export_body" add column "heads" bytea null');
    this.addSql(`
      create table "sheet_trace" (
        "trace_no" bigint not null,
        "body_no" bigint not null,
        "at" int not null,
        "length" int not null,
        "spans" int not null,
        primary key ("trace_no")
      )
    `);
  }

  override down(): void {
    const columns = COLUMNS.map((name) => `"${name}"`).join(', ');
    const values = COLUMNS.map((name, place) => `cast(h.value ->> ${place} as ${TYPES[name] ?? 'text'})`).join(', ');
    this.addSql(`
      insert into "span" ("trace_no", "body_no", ${columns})
      select t."trace_no", t."body_no", ${values}
      from "sheet_trace" t
      join "export_body" b on b."body_no" = t."body_no"
      cross join lateral jsonb_array_elements(
        convert_from(substring(b."heads" from t."at" + 1 for t."length"), 'UTF8')::jsonb
      ) h
      where t."spans" > 0
    `);
    this.addSql('drop table "sheet_trace"');
    this.addSql('alter table "export_body" drop column "heads"');
  }
}
