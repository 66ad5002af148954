import { type Kysely, sql } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import type { CallLink } from '../../domain/traces/estimates.ts';
import { withCountedEstimates } from '../../domain/traces/recount.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import { amountText } from '../../domain/storable.ts';
import type { SqlFlavour } from '../database.ts';
import { numbersIn } from '../rows.ts';
import type { Tables } from '../tables.ts';

/**
 * Counts the estimates of traces afresh, once all of their spans are stored: spans that came apart may tell of one
 * call. `traces` by their numbers; resolves to the summaries as they are then.
 */
export async function recountEstimates(
  db: Kysely<Tables>,
  flavour: SqlFlavour,
  traces: ReadonlyMap<string, TraceSummary>,
): Promise<readonly TraceSummary[]> {
  if (traces.size === 0) return [];
  const rows = await db
    .selectFrom('span')
    .select(['span_id', 'parent_span_id', 'type', 'request_id', 'gateway'])
    .select(sql<string>`cast(trace_no as text)`.as('number'))
    .select(sql<string | null>`cast(cost as text)`.as('cost_text'))
    .select(sql<string | null>`cast(estimate as text)`.as('estimate_text'))
    .where('trace_no', 'in', numbersIn(flavour, [...traces.keys()]))
    .execute();
  const links = new Map<string, CallLink[]>([...traces.keys()].map((number) => [number, []]));
  for (const row of rows)
    links.get(row.number)?.push({
      spanId: row.span_id,
      parentSpanId: row.parent_span_id,
      type: row.type,
      requestId: row.request_id,
      gateway: row.gateway === 1 || row.cost_text !== null,
      estimate: row.estimate_text === null ? null : (BigInt(row.estimate_text) as Usd),
    });
  const recounted: TraceSummary[] = [];
  for (const [number, summary] of traces) {
    const after = withCountedEstimates(summary, links.get(number) ?? []);
    recounted.push(after);
    if (after.spend === summary.spend && after.estimatedCalls === summary.estimatedCalls) continue;
    await sql`update trace_summary set spend = ${after.spend === null ? null : amountText(after.spend)},
      priced_calls = ${after.pricedCalls}, estimated_calls = ${after.estimatedCalls},
      estimate = ${after.estimate === null ? null : amountText(after.estimate)}
      where trace_no = ${number}`.execute(db);
  }
  return recounted;
}
