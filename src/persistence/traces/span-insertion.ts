import { CompiledQuery, type Kysely } from 'kysely';
import { type SpanRows, textOfRows } from '../../domain/traces/span-rows.ts';
import type { SqlFlavour } from '../database/database.ts';
import { insertOrRollback, type RowTable, statementBatches } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { SPAN_COLUMNS } from './span-rows.ts';
import { joinedBlocks } from '../span-blocks/blocks.ts';

/** Spans of one trace and body, encoded for a statement. */
export type SpanGroup = string & { readonly spanGroup: true };

/** `bodyNo` is null without a body. */
export function spanGroup(traceNo: string, bodyNo: string | null, rows: SpanRows): SpanGroup {
  return `[${traceNo},${bodyNo ?? 'null'},${textOfRows(rows)}]` as SpanGroup;
}

/** Inserts spans and looks up stored ones. The statements are built once. */
export interface SpanWriter {
  insert(db: Kysely<Tables>, groups: readonly SpanGroup[]): Promise<void>;
  /** Ids of stored spans, by trace number: all stored ids of `wanted`, and possibly others of the same traces. */
  stored(
    db: Kysely<Tables>,
    wanted: ReadonlyMap<string, readonly string[]>,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
}

/**
 * The rows of a trace are sent as the JSON that ingest has encoded, without decoding. `rowsFrom` explains why they are
 * JSON. Aliases in the SQL: `g` is a group to insert and `s` one of its spans. `w` is a trace with wanted span ids and
 * `i` one of these ids. `joinedBlocks` explains `t`, `b` and `h`.
 */
export function createSpanWriter(flavour: SqlFlavour, { columns }: RowTable<'span'>): SpanWriter {
  const typeOf = (name: string): string => columns.find((column) => column.name === name)?.sqlType ?? 'text';
  const into = ['trace_no', 'body_no', ...SPAN_COLUMNS].map((name) => `"${name}"`).join(', ');
  const { insertText, storedText } = flavour === 'postgresql' ? onPostgres() : onSqlite();

  function onPostgres() {
    const values = SPAN_COLUMNS.map((name, position) => `cast(s.value ->> ${position} as ${typeOf(name)})`);
    return {
      insertText: `insert into span (${into})
        select cast(g.value ->> 0 as bigint), cast(g.value ->> 1 as bigint), ${values.join(', ')}
        from jsonb_array_elements($1::jsonb) g cross join lateral jsonb_array_elements(g.value -> 2) s`,
      storedText: `select cast(span.trace_no as text) as trace_no, span.span_id
        from jsonb_array_elements($1::jsonb) w
        cross join lateral jsonb_array_elements_text(w.value -> 1) i
        join span on span.trace_no = cast(w.value ->> 0 as bigint) and span.span_id = i.value
        union all
        select cast(t.trace_no as text), h.value ->> 0
        from jsonb_array_elements($1::jsonb) w cross join sheet_trace t ${joinedBlocks(flavour)}
        where t.trace_no = cast(w.value ->> 0 as bigint) and b.body_no = t.body_no and t.spans > 0`,
    };
  }

  function onSqlite() {
    // `jsonb_extract` is faster than `->>` on a parsed value.
    const values = SPAN_COLUMNS.map((_name, position) => `jsonb_extract(s.value, '$[${position}]')`);
    return {
      insertText: `${insertOrRollback(flavour)} into span (${into})
        select g.value ->> 0, g.value ->> 1, ${values.join(', ')}
        from jsonb_each(?) g, jsonb_each(g.value, '$[2]') s`,
      storedText: `select cast(span.trace_no as text) as trace_no, span.span_id
        from jsonb_each(?1) w, jsonb_each(w.value, '$[1]') i
        cross join span on span.trace_no = w.value ->> 0 and span.span_id = i.value
        union all
        select cast(t.trace_no as text), jsonb_extract(h.value, '$[0]')
        from jsonb_each(?1) w cross join sheet_trace t ${joinedBlocks(flavour)}
        where t.trace_no = w.value ->> 0 and b.body_no = t.body_no and t.spans > 0`,
    };
  }

  return {
    async insert(db, groups) {
      for (const batch of statementBatches(groups))
        await db.executeQuery(CompiledQuery.raw(insertText, [`[${batch.join(',')}]`]));
    },
    async stored(db, wanted) {
      const json = `[${[...wanted].map(([traceNo, spanIds]) => `[${traceNo},${JSON.stringify(spanIds)}]`).join(',')}]`;
      const { rows } = await db.executeQuery<{ trace_no: string; span_id: string }>(
        CompiledQuery.raw(storedText, [json]),
      );
      const found = new Map([...wanted.keys()].map((traceNo) => [traceNo, new Set<string>()]));
      for (const row of rows) found.get(row.trace_no)?.add(row.span_id);
      return found;
    },
  };
}
