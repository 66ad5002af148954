import { addUsd, type Usd } from '../money.ts';
import type { CallSearch, SpendRow } from '../spend/spend-row.ts';
import { nearestCallAncestors, countedEstimates } from './estimates.ts';
import { withCallsCountedOnce } from './recount.ts';
import type { SpanHead, SpanType } from './span.ts';
import type { TraceSummary } from './trace.ts';

/** The spend of a model call, and whether it has a spend row of the gateway. */
export interface CallSpend {
  /**
   * `matched`: one row. `no_call_id`: the span has no id to match. `no_spend_log`: no row has the id that the span
   * names. `ambiguous`: several rows match. `incomplete_evidence`: no row of the trace of the span has that id. Other
   * traces were not searched, because too many calls of the trace lack a row.
   */
  readonly match: 'matched' | 'no_call_id' | 'no_spend_log' | 'ambiguous' | 'incomplete_evidence';
  /** The spend row; null unless the call is matched. */
  readonly row: SpendRow | null;
  /**
   * Cost of the row. Without a row: the charge of the span, else its estimate if `countedEstimates` has it, else null.
   * Null when ambiguous.
   */
  readonly cost: Usd | null;
  /** `estimated_upper`: with the full price of input, because the span does not state its cached tokens. */
  readonly source: 'gateway' | 'estimated' | 'estimated_upper' | null;
}

const CALL_TYPES: ReadonlySet<SpanType> = new Set(['llm', 'embedding', 'reranker']);

/** Whether a span is a call of a model. The gateway may have a spend row of it. */
export const isModelCall = ({ type }: SpanHead): boolean => CALL_TYPES.has(type);

/**
 * The model calls of a trace, by span id, each with its spend row. The first rule that finds a row applies:
 *
 * - the row of the span, when the gateway made the call;
 * - the row with the answer id or call id that the span names, in `rows` or `rowsOfOtherTraces`;
 * - the row of the gateway span below it, with no agent or tool span between.
 *
 * Several rows by one rule make the call `ambiguous`. `unsearched` has the span ids of calls that were not searched for
 * in other traces.
 */
export function callSpendOf(
  spans: readonly SpanHead[],
  rows: readonly SpendRow[],
  rowsOfOtherTraces: readonly SpendRow[] = [],
  unsearched: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, CallSpend> {
  const rowBySpan = new Map(rows.map((row) => [row.spanId, row]));
  const rowsNamedBy = rowsByName([...rows, ...rowsOfOtherTraces]);
  const calls = spans.filter((span) => isModelCall(span) || rowBySpan.has(span.spanId));
  const ancestorCalls = nearestCallAncestors(spans, new Set(calls.map(({ spanId }) => spanId)));
  const rowSpansBelow = Map.groupBy(rowBySpan.keys(), (spanId) => ancestorCalls.get(spanId) ?? '');
  const candidatesOf = (span: SpanHead): readonly SpendRow[] => {
    const ownRow = rowBySpan.get(span.spanId);
    if (ownRow !== undefined) return [ownRow];
    const namedRows = rowsNamedBy(span);
    if (namedRows.length > 0) return namedRows;
    return (rowSpansBelow.get(span.spanId) ?? []).flatMap((spanId) => rowBySpan.get(spanId) ?? []);
  };
  const estimates = countedEstimates(spans);
  return new Map(
    spans.filter(isModelCall).map((span): readonly [string, CallSpend] => {
      const [row, ...others] = candidatesOf(span);
      if (row === undefined) {
        const call = withoutRow(span, estimates.get(span.spanId) ?? null);
        return [span.spanId, unsearched.has(span.spanId) ? { ...call, match: 'incomplete_evidence' } : call];
      }
      if (others.length > 0) return [span.spanId, { match: 'ambiguous', row: null, ...UNPRICED }];
      return [span.spanId, { match: 'matched', row, ...(row.cost === null ? UNPRICED : gatewayCost(row.cost)) }];
    }),
  );
}

/** Returns a function that finds the rows that a span names by answer id or call id, each once. */
function rowsByName(rows: readonly SpendRow[]): (span: SpanHead) => readonly SpendRow[] {
  const byAnswer = Map.groupBy(rows, ({ responseId }) => responseId);
  const byCall = Map.groupBy(rows, ({ callId }) => callId);
  return ({ requestId, callId }) => {
    const found = [
      ...(requestId === null ? [] : (byAnswer.get(requestId) ?? [])),
      ...(callId === null ? [] : (byCall.get(callId) ?? [])),
    ];
    return [...new Map(found.map((row) => [row.id, row])).values()];
  };
}

const UNPRICED = { cost: null, source: null } as const;

const gatewayCost = (cost: Usd) => ({ cost, source: 'gateway' }) as const;

function withoutRow({ requestId, callId, cost, cacheUnknown }: SpanHead, estimate: Usd | null): CallSpend {
  const match = requestId === null && callId === null ? 'no_call_id' : 'no_spend_log';
  // The row may belong to another owner, so that the reader does not see it. The charge on the visible span is shown.
  if (cost !== null) return { match, row: null, ...gatewayCost(cost) };
  if (estimate === null) return { match, row: null, ...UNPRICED };
  return { match, row: null, cost: estimate, source: cacheUnknown === true ? 'estimated_upper' : 'estimated' };
}

const NS_PER_MS = 1_000_000n;
/** Tolerated clock skew of a client, in ms. */
const CLOCK_SKEW_MS = 10_000;
/** Maximum number of calls of a trace that are searched for in other traces. */
const MAX_SEARCHED_CALLS = 1_000;

type Named = Pick<SpanHead, 'requestId' | 'callId' | 'startNs' | 'endNs'>;

/** Search conditions for a call in other traces, by its answer id (`requestId`) or call id; null without both. */
export function callSearchOf({ requestId, callId, startNs, endNs }: Named): CallSearch | null {
  if (requestId === null && callId === null) return null;
  const fromMs = Number(startNs / NS_PER_MS) - CLOCK_SKEW_MS;
  const toMs = Number(endNs / NS_PER_MS) + CLOCK_SKEW_MS;
  return { responseId: requestId, callId, fromMs, toMs };
}

/**
 * Search conditions for client calls of a trace that name an id and have no row, for at most `MAX_SEARCHED_CALLS`
 * calls.
 */
export function callSearchesOf(
  spans: readonly SpanHead[],
  calls: ReadonlyMap<string, CallSpend>,
): readonly CallSearch[] {
  return clientCallsWithoutRow(spans, calls)
    .slice(0, MAX_SEARCHED_CALLS)
    .flatMap((span) => callSearchOf(span) ?? []);
}

/** Span ids of the calls above the limit of `callSearchesOf`. */
export const unsearchedCalls = (
  spans: readonly SpanHead[],
  calls: ReadonlyMap<string, CallSpend>,
): ReadonlySet<string> =>
  new Set(
    clientCallsWithoutRow(spans, calls)
      .slice(MAX_SEARCHED_CALLS)
      .map(({ spanId }) => spanId),
  );

const clientCallsWithoutRow = (
  spans: readonly SpanHead[],
  calls: ReadonlyMap<string, CallSpend>,
): readonly SpanHead[] => spans.filter((span) => !span.gateway && calls.get(span.spanId)?.match === 'no_spend_log');

/** Spend members of a summary. */
export type SpendSummary = Pick<TraceSummary, 'spend' | 'pricedCalls' | 'estimate' | 'estimatedCalls'>;

/**
 * The spend of a summary with the rows of other traces in place of estimates. Lists of traces show the stored spend
 * instead, in which the cost of a call is part of the trace that the gateway recorded.
 */
export function spendWithOtherTraces(
  summary: TraceSummary,
  spans: readonly SpanHead[],
  calls: ReadonlyMap<string, CallSpend>,
  rowsOfOtherTraces: readonly SpendRow[],
): SpendSummary {
  const spendIn = ({ spend, pricedCalls, estimate, estimatedCalls }: SpendSummary): SpendSummary => {
    return { spend, pricedCalls, estimate, estimatedCalls };
  };
  if (rowsOfOtherTraces.length === 0) return spendIn(summary);
  const externalIds = new Set(rowsOfOtherTraces.map(({ id }) => id));
  const costByRow = new Map<string, Usd | null>();
  const spansToCount = spans.map((span) => {
    const row = calls.get(span.spanId)?.row;
    if (!row || !externalIds.has(row.id)) return span;
    costByRow.set(row.id, row.cost);
    return { ...span, estimate: null };
  });
  const counted = spendIn(withCallsCountedOnce(summary, spansToCount));
  const costs = [...costByRow.values()].filter((cost) => cost !== null);
  if (costs.length === 0) return counted;
  const total = costs.reduce(addUsd);
  const spend = counted.spend === null ? total : addUsd(counted.spend, total);
  return { ...counted, spend, pricedCalls: counted.pricedCalls + costs.length };
}
