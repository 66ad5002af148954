import { type Kysely, sql } from 'kysely';
import { amountText } from '../../domain/storable.ts';
import { countAdded, type GrowingTrace } from '../../domain/traces/call-notes.ts';
import type { CallCount } from '../../domain/traces/estimates.ts';
import { withCallsCountedOnce, withCounts } from '../../domain/traces/recount.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Tables } from '../database/tables.ts';
import type { StoredCallNotes } from './call-notes.ts';
import type { BlockWriter } from '../span-blocks/blocks.ts';

/** A trace whose spans come in several pieces. Two pieces may describe one call. */
export interface PiecedTrace {
  readonly number: string;
  /** The summary before this commit; null for a new trace. */
  readonly before: TraceSummary | null;
  /** Whether its calls had notes before this commit. */
  readonly noted: boolean;
  /** The sum of its pieces, which may count a call twice. */
  readonly after: TraceSummary;
  readonly added: readonly CallCount[];
}

/**
 * Counts each call of pieced traces once, after their spans are stored. Later pieces are counted by the notes of the
 * trace, so that the cost is proportional to the piece (ADR 0038). Resolves to the summaries that differ from the sum
 * of their pieces.
 */
export async function recountCalls(
  db: Kysely<Tables>,
  { notes, blocks }: { readonly notes: StoredCallNotes; readonly blocks: Pick<BlockWriter, 'copyToRows'> },
  traces: readonly PiecedTrace[],
): Promise<readonly TraceSummary[]> {
  const [begun, existing] = [
    traces.filter(({ before }) => before === null),
    traces.filter(({ before }) => before !== null),
  ];
  const recounted = begun.map(({ number, after, added }) => [number, withCallsCountedOnce(after, added)] as const);
  const toNote = existing.filter(({ noted }) => !noted).map(({ number }) => number);
  // Notes are computed from rows only: reads of single spans are slow in a block.
  if (toNote.length > 0) await blocks.copyToRows(db, toNote);
  const storedSpans = await notes.spansOf(toNote);
  await notes.markNoted(toNote);
  // A trace without notes is counted from the start: all its stored spans count as added.
  const growing = existing.map(({ number, before, noted, added }): GrowingTrace => {
    return noted
      ? { trace: number, before, added }
      : { trace: number, before: null, added: storedSpans.get(number) ?? [] };
  });
  const counts = growing.length === 0 ? null : await countAdded(notes, growing);
  // A cycle of parents may replace the last call. Then the tokens of all spans count, which the notes do not have.
  const toSum = existing.filter(({ number, before }) => before?.llmCalls !== 0 && counts?.get(number)?.llmCalls === 0);
  const allSpans = toSum.length === 0 ? null : await notes.spansOf(toSum.map(({ number }) => number));
  const grown = existing.map(({ number, after }) => {
    const spans = allSpans?.get(number);
    const summary = withCounts(after, counts?.get(number) ?? after);
    return [number, spans === undefined ? summary : withCallsCountedOnce(summary, spans)] as const;
  });
  const sums = new Map(traces.map(({ number, after }) => [number, after]));
  const result: TraceSummary[] = [];
  for (const [number, summary] of [...recounted, ...grown]) {
    if (isSame(summary, sums.get(number))) continue;
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

const COUNTED = ['spend', 'estimatedCalls', 'llmCalls', 'gatewayCalls', 'inputTokens', 'outputTokens'] as const;

const isSame = (left: TraceSummary, right: TraceSummary | undefined): boolean =>
  COUNTED.every((count) => left[count] === right?.[count]);
