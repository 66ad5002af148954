import { type Kysely, sql } from 'kysely';
import { amountText } from '../../domain/storable.ts';
import { countAdded, type GrowingTrace } from '../../domain/traces/call-notes.ts';
import type { CallCount } from '../../domain/traces/estimates.ts';
import { withCallsCountedOnce, withCounts } from '../../domain/traces/recount.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Tables } from '../database/tables.ts';
import type { StoredCallNotes } from '../calls/notes.ts';
import type { SheetWriter } from './span-blocks.ts';

/** A trace that spans came to in pieces, at several times or several of them now, so that calls may be counted twice. */
export interface PiecedTrace {
  readonly number: string;
  /** As it stood before; null for one that begins now. */
  readonly before: TraceSummary | null;
  /** Whether its calls were noted then. */
  readonly noted: boolean;
  /** Its pieces added up as they came. */
  readonly after: TraceSummary;
  readonly added: readonly CallCount[];
}

/**
 * Counts each call of traces once, after their spans are stored: spans that came apart may tell of one call. What comes to
 * a trace later is counted by what was noted of it, so that it costs in proportion to itself (ADR 0038). Resolves to the
 * summaries that changed.
 */
export async function recountCalls(
  db: Kysely<Tables>,
  { notes, sheets }: { readonly notes: StoredCallNotes; readonly sheets: Pick<SheetWriter, 'becomeRows'> },
  traces: readonly PiecedTrace[],
): Promise<readonly TraceSummary[]> {
  const [begun, there] = [
    traces.filter(({ before }) => before === null),
    traces.filter(({ before }) => before !== null),
  ];
  const recounted = begun.map(({ number, after, added }) => [number, withCallsCountedOnce(after, added)] as const);
  const toNote = there.filter(({ noted }) => !noted).map(({ number }) => number);
  // What is noted of is climbed span by span, which a sheet would have to be taken apart for each time.
  if (toNote.length > 0) await sheets.becomeRows(db, toNote);
  const all = await notes.all(toNote);
  await notes.begin(toNote);
  const growing = there.map(({ number, before, noted, added }): GrowingTrace => {
    return noted ? { trace: number, before, added } : { trace: number, before: null, added: all.get(number) ?? [] };
  });
  const counts = growing.length === 0 ? null : await countAdded(notes, growing);
  const grown = there.map(({ number, after }) => [number, withCounts(after, counts?.get(number) ?? after)] as const);
  const changed = new Map(traces.map(({ number, after }) => [number, after]));
  const result: TraceSummary[] = [];
  for (const [number, summary] of [...recounted, ...grown]) {
    if (isSame(summary, changed.get(number))) continue;
    await store(db, number, summary);
    result.push(summary);
  }
  return result;
}

const store = (db: Kysely<Tables>, number: string, summary: TraceSummary) => {
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
