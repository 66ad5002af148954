import type { Usd } from '../money.ts';
import type { CallNames, CallTokens } from './call-usage.ts';
import { type CallLink, countedEstimates, sumOfEstimates, sumOfKnown } from './estimates.ts';
import type { PackedExport, PackedTrace } from './packed.ts';
import { callsIn, type PackedCall } from './packed-calls.ts';
import { withEstimates } from './span-rows.ts';

/**
 * Returns a function that prices calls with these names by the catalog; null when the catalog has no unambiguous price
 * for the names. The function returns null for a call without an unambiguous price.
 */
export type CallEstimator = (names: CallNames) => ((tokens: CallTokens) => Usd | null) | null;

/** A call of an export with its estimated cost. */
export interface EstimatedCall extends PackedCall {
  readonly estimate: Usd;
}

/** The calls of an export that have an estimate. */
export function estimatedCalls({ calls }: PackedExport, estimatorOf: CallEstimator): readonly EstimatedCall[] {
  return calls.flatMap((group) => {
    const estimateOf = estimatorOf(group);
    if (estimateOf === null) return [];
    return callsIn(group).flatMap((call) => {
      const estimate = estimateOf(call);
      return estimate === null ? [] : { ...call, estimate };
    });
  });
}

/**
 * The export with these estimates in its span rows and tallies. Estimates are written into encoded rows, because the
 * thread that encodes rows may have neither the catalog nor spend rows.
 */
export function withEstimatedCalls(packed: PackedExport, calls: readonly EstimatedCall[]): PackedExport {
  if (calls.length === 0) return packed;
  const byTrace = Map.groupBy(calls, ({ trace }) => trace);
  const traces = packed.traces.map((trace, index) => {
    const ownCalls = byTrace.get(index);
    return ownCalls === undefined ? trace : estimatedTrace(trace, ownCalls);
  });
  return { ...packed, traces };
}

function estimatedTrace(trace: PackedTrace, calls: readonly EstimatedCall[]): PackedTrace {
  const { tally, rows } = trace;
  const counted = countedEstimates(linksOf(trace, calls));
  const estimate = sumOfEstimates(counted.values());
  return {
    ...trace,
    rows: withEstimates(
      rows,
      calls.toSorted((left, right) => left.place - right.place),
    ),
    tally: {
      ...tally,
      spend: sumOfKnown(tally.spend, estimate),
      pricedCalls: tally.pricedCalls + counted.size,
      estimate,
      estimatedCalls: counted.size,
    },
  };
}

/** Links of the calls with an estimate, and of the calls in `callAncestors` without one. */
function linksOf({ spanIds, callAncestors }: PackedTrace, calls: readonly EstimatedCall[]): readonly CallLink[] {
  if (callAncestors.length === 0)
    return calls.map(({ place, requestId, estimate }) => {
      const spanId = spanIds[place] ?? '';
      return { spanId, parentSpanId: null, type: 'llm', requestId, gateway: false, estimate };
    });
  const estimated = new Map(calls.map((call) => [call.place, call]));
  // `callAncestors` is a flat list of pairs: the place of a call, then the place of its ancestor.
  const ancestorOf = new Map<number, number>();
  for (let at = 0; at + 1 < callAncestors.length; at += 2)
    ancestorOf.set(callAncestors[at] ?? -1, callAncestors[at + 1] ?? -1);
  return [...new Set([...estimated.keys(), ...callAncestors])].flatMap((place): readonly CallLink[] => {
    const spanId = spanIds[place] ?? '';
    const { requestId = null, estimate = null } = estimated.get(place) ?? {};
    const isCycle = ancestorOf.get(place) === place;
    const parentSpanId = isCycle ? CYCLE_SPAN_PREFIX + spanId : (spanIds[ancestorOf.get(place) ?? -1] ?? null);
    const link: CallLink = { spanId, parentSpanId, type: 'llm', requestId, gateway: false, estimate };
    if (!isCycle) return [link];
    return [link, { ...link, spanId: parentSpanId ?? '', parentSpanId: spanId, type: 'chain', estimate: null }];
  });
}

/**
 * Prefix of the span id of a placeholder span. It is added for a call that is its own ancestor, in a cycle of parents.
 * The call and the placeholder name each other as parent, because a span that names itself as parent is a root.
 */
const CYCLE_SPAN_PREFIX = 'between ';
