import { storable } from '../../domain/storable.ts';
import type { SpanHead } from '../../domain/traces/span.ts';
import type { SpanPosition } from '../../domain/traces/span-cursor.ts';
import type { TraceKey } from '../../domain/traces/store.ts';
import { columnNames, tableWithout } from '../database/rows.ts';
import { spanHeadOf, type SpanRow } from '../traces/span-rows.ts';
import type { ClickHouse } from './client.ts';
import { inBatches, selected } from './trace-lookup.ts';
import { type ClickHouseTables, numbersOf } from './trace-tables.ts';

/** The spans of these traces without their payloads, by trace ref, sorted by start and span id. */
export async function spansByRef(
  server: ClickHouse,
  tables: ClickHouseTables,
  traces: readonly TraceKey[],
): Promise<ReadonlyMap<string, readonly SpanHead[]>> {
  const heads = tableWithout(tables.span, 'body_at', 'payload');
  const withNumbers = numbersOf<SpanRow>(heads);
  const rows = await inBatches(
    traces.map(({ traceId }) => storable(traceId)),
    (ids) =>
      server.rows<SpanRow & { readonly trace_id: string; readonly trace_ref: string }>(
        `select trace_id, trace_ref, ${selected(columnNames(heads))} from span final
         where trace_id in {ids:Array(String)} order by start_ns, span_id`,
        { ids },
      ),
  );
  const spans = new Map<string, SpanHead[]>(traces.map(({ traceRef }) => [traceRef, []]));
  for (const row of rows) spans.get(row.trace_ref)?.push(spanHeadOf(row.trace_id, withNumbers(row)));
  return spans;
}

/**
 * One page of the spans of a trace, without their payloads: at most `limit` spans after a position, or from the start.
 */
export async function spanPage(
  server: ClickHouse,
  tables: ClickHouseTables,
  {
    trace: { traceId, traceRef },
    after,
    limit,
  }: { readonly trace: TraceKey; readonly after: SpanPosition | null; readonly limit: number },
): Promise<readonly SpanHead[]> {
  const heads = tableWithout(tables.span, 'body_at', 'payload');
  const withNumbers = numbersOf<SpanRow>(heads);
  const afterCondition = after === null ? '' : 'and (start_ns, span_id) > ({startNs:Int64}, {spanId:String})';
  const rows = await server.rows<SpanRow>(
    `select ${selected(columnNames(heads))} from span final
     where trace_id = {id:String} and trace_ref = {ref:String} ${afterCondition}
     order by start_ns, span_id limit {limit:UInt32}`,
    {
      id: storable(traceId),
      ref: traceRef,
      startNs: String(after?.startNs ?? 0n),
      spanId: after?.spanId ?? '',
      limit,
    },
  );
  return rows.map((row) => spanHeadOf(traceId, withNumbers(row)));
}
