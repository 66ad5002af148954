import { type Kysely, sql } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import type { CallCount } from '../../domain/traces/estimates.ts';
import type { SqlFlavour } from '../database/database.ts';
import { type Placeholder, preparedQuery } from '../database/prepared-query.ts';
import { numbersInJson, type RowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { type SpanSource, spanSources } from '../span-blocks/blocks.ts';

/** The columns of a span that counting of calls needs. */
export interface CountRow {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly type: CallCount['type'];
  readonly request_id: string | null;
  readonly gateway: number;
  readonly estimate: string | null;
  readonly input: number;
  readonly output: number;
}

/** SQL of the columns of `CountRow`, by name. `span` is the alias of the table. */
export const countColumns = (span: string): Readonly<Record<keyof CountRow, string>> => ({
  span_id: `${span}.span_id`,
  parent_span_id: `${span}.parent_span_id`,
  type: `${span}.type`,
  request_id: `${span}.request_id`,
  gateway: `case when ${span}.gateway = 1 or ${span}.cost is not null then 1 else 0 end`,
  estimate: `cast(${span}.estimate as text)`,
  input: `cast(${span}.input_tokens as double precision)`,
  output: `cast(${span}.output_tokens as double precision)`,
});

export const countOf = (row: CountRow): CallCount => ({
  spanId: row.span_id,
  parentSpanId: row.parent_span_id,
  type: row.type,
  requestId: row.request_id,
  gateway: row.gateway === 1,
  estimate: row.estimate === null ? null : (BigInt(row.estimate) as Usd),
  inputTokens: row.input,
  outputTokens: row.output,
});

/** The spans of these traces, in rows and in blocks, by trace number. */
export type CountReader = (
  db: Kysely<Tables>,
  traces: readonly string[],
) => Promise<ReadonlyMap<string, readonly CallCount[]>>;

interface CountValues {
  /** JSON list of trace numbers. */
  readonly numbers: string;
}

type NumberedCount = CountRow & { readonly trace: string };

export function createCountReader(flavour: SqlFlavour, spans: RowTable<'span'>): CountReader {
  const sources = spanSources(flavour, spans);
  const columns = Object.entries({ ...countColumns('span'), trace: 'cast(span.trace_no as text)' });
  const countsIn = (db: Kysely<Tables>, source: SpanSource, given: Placeholder<CountValues>) =>
    db
      .selectFrom(source)
      .select(columns.map(([name, text]) => sql.raw(text).as(name)))
      .where('span.trace_no', 'in', numbersInJson(flavour, given('numbers')))
      .$castTo<NumberedCount>();
  const read = preparedQuery((db, given: Placeholder<CountValues>) =>
    countsIn(db, sources.rows, given).unionAll(countsIn(db, sources.blocks, given)),
  );
  return async (db, traces) => {
    const counts = new Map<string, CallCount[]>(traces.map((trace) => [trace, []]));
    if (traces.length === 0) return counts;
    for (const row of await read(db, { numbers: JSON.stringify(traces) })) counts.get(row.trace)?.push(countOf(row));
    return counts;
  };
}
