import { type Kysely, sql } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import type { CallCount } from '../../domain/traces/estimates.ts';
import { withCallsCountedOnce } from '../../domain/traces/recount.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import { amountText } from '../../domain/storable.ts';
import type { SqlFlavour } from '../database.ts';
import { numbersIn, type RowTable } from '../rows.ts';
import type { Tables } from '../tables.ts';
import { type SpanSource, spanSources } from './span-sheets.ts';

/**
 * Counts the calls of traces and their estimates afresh, once all of their spans are stored: spans that came apart may tell of one
 * call. `traces` by their numbers; resolves to the summaries as they are then.
 */
export async function recountCalls(
  db: Kysely<Tables>,
  { flavour, span }: { readonly flavour: SqlFlavour; readonly span: RowTable<'span'> },
  traces: ReadonlyMap<string, TraceSummary>,
): Promise<readonly TraceSummary[]> {
  if (traces.size === 0) return [];
  const countsIn = (source: SpanSource) =>
    db
      .selectFrom(source)
      .select(['span_id', 'parent_span_id', 'type', 'request_id', 'gateway'])
      .select(sql<number>`cast(input_tokens as double precision)`.as('input'))
      .select(sql<number>`cast(output_tokens as double precision)`.as('output'))
      .select(sql<string>`cast(trace_no as text)`.as('number'))
      .select(sql<string | null>`cast(cost as text)`.as('cost_text'))
      .select(sql<string | null>`cast(estimate as text)`.as('estimate_text'))
      .where('trace_no', 'in', numbersIn(flavour, [...traces.keys()]));
  const { rows: spanRows, sheets } = spanSources(flavour, span);
  const rows = await countsIn(spanRows).unionAll(countsIn(sheets)).execute();
  const links = new Map<string, CallCount[]>([...traces.keys()].map((number) => [number, []]));
  for (const row of rows)
    links.get(row.number)?.push({
      spanId: row.span_id,
      parentSpanId: row.parent_span_id,
      type: row.type,
      requestId: row.request_id,
      gateway: row.gateway === 1 || row.cost_text !== null,
      estimate: row.estimate_text === null ? null : (BigInt(row.estimate_text) as Usd),
      inputTokens: row.input,
      outputTokens: row.output,
    });
  const recounted: TraceSummary[] = [];
  for (const [number, summary] of traces) {
    const after = withCallsCountedOnce(summary, links.get(number) ?? []);
    recounted.push(after);
    if (isSame(after, summary)) continue;
    await sql`update trace_summary set spend = ${after.spend === null ? null : amountText(after.spend)},
      priced_calls = ${after.pricedCalls}, estimated_calls = ${after.estimatedCalls},
      estimate = ${after.estimate === null ? null : amountText(after.estimate)}, llm_calls = ${after.llmCalls},
      gateway_calls = ${after.gatewayCalls}, input_tokens = ${after.inputTokens}, output_tokens = ${after.outputTokens}
      where trace_no = ${number}`.execute(db);
  }
  return recounted;
}

const COUNTED = ['spend', 'estimatedCalls', 'llmCalls', 'gatewayCalls', 'inputTokens', 'outputTokens'] as const;

const isSame = (left: TraceSummary, right: TraceSummary): boolean =>
  COUNTED.every((count) => left[count] === right[count]);
