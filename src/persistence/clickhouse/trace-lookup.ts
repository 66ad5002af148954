import type { TraceSummary } from '../../domain/traces/trace.ts';
import { columnNames } from '../database/rows.ts';
import { type NewSummaryRow, summaryOf } from '../traces/summary-rows.ts';
import type { ClickHouse, Params } from './client.ts';
import { type ClickHouseTables, numbersOf } from './trace-tables.ts';

/** Maximum number of ids of one lookup: the list must fit the request limits of servers and proxies. */
const LOOKUP_IDS = 500;

/** Runs a lookup for any number of ids of traces or bodies, in batches. Each id is looked up once. */
export async function inBatches<Row>(
  allIds: Iterable<string>,
  lookUp: (batch: readonly string[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const ids = [...new Set(allIds)];
  const found: (readonly Row[])[] = [];
  for (let at = 0; at < ids.length; at += LOOKUP_IDS) found.push(await lookUp(ids.slice(at, at + LOOKUP_IDS)));
  return found.flat();
}

/** Columns for a `select`. */
export const selected = (columns: readonly string[]): string => columns.join(', ');

/** Reads summaries by the columns of their table. */
export function summaryReader({ summary }: Pick<ClickHouseTables, 'summary'>) {
  const numbers = numbersOf<NewSummaryRow>(summary);
  return {
    columns: selected(columnNames(summary)),
    read: (rows: readonly NewSummaryRow[]): readonly TraceSummary[] => rows.map((row) => summaryOf(numbers(row))),
  };
}

/** The latest summaries of these traces, by ref. */
export async function knownSummaries(
  server: ClickHouse,
  tables: ClickHouseTables,
  traceIds: Iterable<string>,
): Promise<ReadonlyMap<string, TraceSummary>> {
  const { columns, read } = summaryReader(tables);
  const rows = await inBatches(traceIds, (ids) =>
    server.rows<NewSummaryRow>(`select ${columns} from trace_summary final where trace_id in {ids:Array(String)}`, {
      ids,
    } satisfies Params),
  );
  return new Map(read(rows).map((summary) => [summary.traceRef, summary]));
}
