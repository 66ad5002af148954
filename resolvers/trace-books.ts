import { spansOfParts } from '../src/domain/traces/assemble-trace.ts';
import {
  type AgentSpend,
  agentSpendOf,
  type CallSpend,
  callSpendOf,
  isModelCall,
  soughtCalls,
  unsoughtCalls,
} from '../src/domain/traces/call-spend.ts';
import type { SoughtCall, SpendRow } from '../src/domain/spend/spend-row.ts';
import type { SpanHead } from '../src/domain/traces/span.ts';
import type { TraceKey } from '../src/domain/traces/store.ts';
import type { TraceIdentity } from '../src/domain/traces/trace.ts';

/** What the gateway's books say of a trace. */
export interface TraceBooks {
  readonly spans: readonly SpanHead[];
  /** Of its model calls, by span id. */
  readonly calls: ReadonlyMap<string, CallSpend>;
  /** By the agent's name. */
  readonly agentSpend: ReadonlyMap<string, AgentSpend>;
  /** Rows of its calls that the gateway has in traces of its own. */
  readonly elsewhere: readonly SpendRow[];
}

/** A question that is asked once for all who ask it at the same moment. */
interface Question<Key, Value> {
  loadMany(keys: readonly Key[]): Promise<readonly (Value | Error)[]>;
}

/** The questions that the books of a trace come from; see `Loaders`. */
interface BookQuestions {
  readonly spansByTrace: Question<TraceKey, readonly SpanHead[]>;
  /** By `traceId:spanId`. */
  readonly spendRowBySpan: Question<string, SpendRow | null>;
  readonly spendRowsElsewhere: Question<SoughtCall, readonly SpendRow[]>;
}

/** The books of what is shown as one trace. Asked for many traces at once, each question is still asked once. */
export async function booksOf(parts: readonly TraceIdentity[], questions: BookQuestions): Promise<TraceBooks> {
  const found = valuesOf(await questions.spansByTrace.loadMany(parts));
  const spans = spansOfParts(parts, new Map(parts.map(({ traceRef }, at) => [traceRef, found[at] ?? []])));
  const keys = spans.filter(isModelCall).map(({ traceId, spanId }) => `${traceId}:${spanId}`);
  const rows = valuesOf(await questions.spendRowBySpan.loadMany(keys)).filter((row) => row !== null);
  const here = callSpendOf(spans, rows);
  const sought = soughtCalls(spans, here);
  const told = valuesOf(await questions.spendRowsElsewhere.loadMany(sought)).flat();
  const elsewhere = [...new Map(told.filter((row) => isOfOwner(row, parts)).map((row) => [row.id, row])).values()];
  const calls = callSpendOf(spans, rows, elsewhere, unsoughtCalls(spans, here));
  return { spans, calls, agentSpend: agentSpendOf(spans, calls), elsewhere };
}

/** An answer's id is whatever a sender says: only calls of those who sent the trace are its own. */
export const isOfOwner = ({ teamId, keyHash }: SpendRow, owners: readonly Pick<TraceIdentity, 'owner'>[]): boolean =>
  owners.some(({ owner }) => owner.keyHash === keyHash && owner.teamId === teamId);

/** Throws what kept one of them from being read. */
function valuesOf<Value>(loaded: readonly (Value | Error)[]): readonly Value[] {
  return loaded.map((value) => {
    if (value instanceof Error) throw value;
    return value;
  });
}
