import { type Kysely, sql } from 'kysely';
import { amountText } from '../../domain/storable.ts';
import type { CallCount } from '../../domain/traces/estimates.ts';
import { type CountedOnce, countedOnce, mayRepeatCalls, withCounts } from '../../domain/traces/recount.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Tables } from '../database/tables.ts';

/** A trace whose spans come in several pieces. Two pieces may describe one call. */
export interface PiecedTrace {
  readonly number: string;
  /** The summary before this commit; null for a new trace. */
  readonly before: TraceSummary | null;
  /** The sum of its pieces, which may count a call twice. */
  readonly after: TraceSummary;
  /** Decodes the added spans. */
  added(): readonly CallCount[];
}

/** A trace with spans that were stored before. */
interface GrownTrace extends PiecedTrace {
  readonly before: TraceSummary;
}

/** Counts the calls of traces that were stored before. */
export interface Recount {
  /**
   * The counts of these traces, by number, after their spans are stored. A trace is absent if the sum of its pieces
   * counts each call once.
   */
  countsOf(db: Kysely<Tables>, traces: readonly GrownTrace[]): Promise<ReadonlyMap<string, CountedOnce>>;
}

/** The counts of a new trace; undefined if the sum of its pieces counts each call once. */
const countsOfNew = ({ after, added }: PiecedTrace): CountedOnce | undefined =>
  mayRepeatCalls(after) ? countedOnce(added()) : undefined;

/** Counts each call of pieced traces once. Resolves to the summaries that differ from the sum of their pieces. */
export async function recountCalls(
  db: Kysely<Tables>,
  recount: Recount,
  traces: readonly PiecedTrace[],
): Promise<readonly TraceSummary[]> {
  const isGrown = (trace: PiecedTrace): trace is GrownTrace => trace.before !== null;
  const grown = traces.filter(isGrown);
  const counts = grown.length === 0 ? null : await recount.countsOf(db, grown);
  const result: TraceSummary[] = [];
  for (const trace of traces) {
    const { number, after } = trace;
    const counted = isGrown(trace) ? counts?.get(number) : countsOfNew(trace);
    const summary = counted === undefined ? after : withCounts(after, counted);
    if (hasSameCounts(summary, after)) continue;
    await storeCounts(db, number, summary);
    result.push(summary);
  }
  return result;
}

const storeCounts = (db: Kysely<Tables>, number: string, summary: TraceSummary) => {
  const { spend, pricedCalls, estimate, estimatedCalls, llmCalls, gatewayCalls, inputTokens, outputTokens } = summary;
  return sql`update trace_summary set spend = ${spend === null ? null : amountText(spend)},
    priced_calls = ${pricedCalls}, estimated_calls = ${estimatedCalls},
    estimate = ${estimate === null ? null : amountText(estimate)}, llm_calls = ${llmCalls},
    gateway_calls = ${gatewayCalls}, input_tokens = ${inputTokens}, output_tokens = ${outputTokens}
    where trace_no = ${number}`.execute(db);
};

/** What a recount may change. `pricedCalls` changes only with `estimatedCalls`, and `estimate` only with `spend`. */
const COUNTED = ['spend', 'estimatedCalls', 'llmCalls', 'gatewayCalls', 'inputTokens', 'outputTokens'] as const;

const hasSameCounts = (left: TraceSummary, right: TraceSummary): boolean =>
  COUNTED.every((count) => left[count] === right[count]);
