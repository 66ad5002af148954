import { type AgentSpend, agentSpendOf, type AgentTokens, agentTokensOf } from '../../src/domain/traces/agents.ts';
import { spansOfParts } from '../../src/domain/traces/assemble-trace.ts';
import {
  type CallSpend,
  callSpendOf,
  isModelCall,
  callSearchesOf,
  unsearchedCalls,
} from '../../src/domain/traces/call-spend.ts';
import type { CallSearch, SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { SpanHead } from '../../src/domain/traces/span.ts';
import type { TraceKey } from '../../src/domain/traces/store.ts';
import type { TraceIdentity } from '../../src/domain/traces/trace.ts';

/** Accounts of a trace: the gateway's records of its calls. */
export interface TraceAccounts {
  readonly spans: readonly SpanHead[];
  /** Spend of the trace's model calls, by span id. */
  readonly calls: ReadonlyMap<string, CallSpend>;
  /** By the agent's name. */
  readonly agentSpend: ReadonlyMap<string, AgentSpend>;
  /** By the agent's name. */
  readonly agentTokens: ReadonlyMap<string, AgentTokens>;
  /** Spend rows of the trace's calls that the gateway recorded in other traces. */
  readonly rowsOfOtherTraces: readonly SpendRow[];
}

/** A batched query. */
interface Query<Key, Value> {
  loadMany(keys: readonly Key[]): Promise<readonly (Value | Error)[]>;
}

/** Queries for the accounts of a trace; see `Loaders`. */
interface AccountQueries {
  readonly spansByTrace: Query<TraceKey, readonly SpanHead[]>;
  /** By `traceId:spanId`. */
  readonly spendRowBySpan: Query<string, SpendRow | null>;
  readonly spendRowsElsewhere: Query<CallSearch, readonly SpendRow[]>;
}

/** Accounts of the parts of one trace. Each query runs once for all traces that are loaded together. */
export async function accountsOf(parts: readonly TraceIdentity[], queries: AccountQueries): Promise<TraceAccounts> {
  const found = valuesOf(await queries.spansByTrace.loadMany(parts));
  const spans = spansOfParts(parts, new Map(parts.map(({ traceRef }, at) => [traceRef, found[at] ?? []])));
  const keys = spans.filter(isModelCall).map(({ traceId, spanId }) => `${traceId}:${spanId}`);
  const rows = valuesOf(await queries.spendRowBySpan.loadMany(keys)).filter((row) => row !== null);
  const spendHere = callSpendOf(spans, rows);
  // Calls without a spend row in this trace may have one in another trace.
  const searches = callSearchesOf(spans, spendHere);
  const candidates = valuesOf(await queries.spendRowsElsewhere.loadMany(searches)).flat();
  const ofOwners = candidates.filter((row) => isOfOwner(row, parts));
  // Several calls may find the same row.
  const rowsOfOtherTraces = [...new Map(ofOwners.map((row) => [row.id, row])).values()];
  const calls = callSpendOf(spans, rows, rowsOfOtherTraces, unsearchedCalls(spans, spendHere));
  return { spans, calls, agentSpend: agentSpendOf(spans, calls), agentTokens: agentTokensOf(spans), rowsOfOtherTraces };
}

/** Whether an owner of the trace made the call. Senders choose response ids, so other calls may have the same ids. */
export const isOfOwner = ({ teamId, keyHash }: SpendRow, owners: readonly Pick<TraceIdentity, 'owner'>[]): boolean =>
  owners.some(({ owner }) => owner.keyHash === keyHash && owner.teamId === teamId);

/** Throws the first error of the loaded values. */
function valuesOf<Value>(loaded: readonly (Value | Error)[]): readonly Value[] {
  return loaded.map((value) => {
    if (value instanceof Error) throw value;
    return value;
  });
}
