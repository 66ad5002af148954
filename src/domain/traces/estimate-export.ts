import { addUsd, type Usd } from '../money.ts';
import type { CallNames, CallTokens } from './call-usage.ts';
import { type CallLink, countedEstimates, sumOfEstimates } from './estimates.ts';
import type { PackedExport, PackedTrace } from './packed.ts';
import { callsIn, type PackedCall } from './packed-calls.ts';
import { withEstimates } from './span-rows.ts';

/** What calls that go by some names cost by the catalog, each null where that would be a guess; null when all would be. */
export type CallEstimator = (names: CallNames) => ((tokens: CallTokens) => Usd | null) | null;

/** A call of an export and what it is estimated to cost. */
export interface EstimatedCall extends PackedCall {
  readonly estimate: Usd;
}

/** The calls of an export that an estimate can be made for. */
export function estimatedCalls({ calls }: PackedExport, estimatorOf: CallEstimator): readonly EstimatedCall[] {
  return calls.flatMap((some) => {
    const estimateOf = estimatorOf(some);
    if (estimateOf === null) return [];
    return callsIn(some).flatMap((call) => {
      const estimate = estimateOf(call);
      return estimate === null ? [] : { ...call, estimate };
    });
  });
}

/**
 * An export with what its calls are estimated to cost, in the rows of their spans and in the tallies of their traces.
 * Exports are read where no catalog is at hand, so that this comes after.
 */
export function withEstimatedCalls(packed: PackedExport, calls: readonly EstimatedCall[]): PackedExport {
  if (calls.length === 0) return packed;
  const byTrace = Map.groupBy(calls, ({ trace }) => trace);
  const traces = packed.traces.map((trace, at) => {
    const own = byTrace.get(at);
    return own === undefined ? trace : estimatedTrace(trace, own);
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
      spend: tally.spend === null || estimate === null ? (tally.spend ?? estimate) : addUsd(tally.spend, estimate),
      pricedCalls: tally.pricedCalls + counted.size,
      estimate,
      estimatedCalls: counted.size,
    },
  };
}

/** The calls, and those without an estimate that stand between them. */
function linksOf({ spanIds, callsAbove }: PackedTrace, calls: readonly EstimatedCall[]): readonly CallLink[] {
  const estimated = new Map(calls.map((call) => [call.place, call]));
  const above = new Map<number, number>();
  for (let at = 0; at + 1 < callsAbove.length; at += 2) above.set(callsAbove[at] ?? -1, callsAbove[at + 1] ?? -1);
  return [...new Set([...estimated.keys(), ...callsAbove])].flatMap((place): readonly CallLink[] => {
    const spanId = spanIds[place] ?? '';
    const { requestId = null, estimate = null } = estimated.get(place) ?? {};
    const isCircle = above.get(place) === place;
    const parentSpanId = isCircle ? BETWEEN + spanId : (spanIds[above.get(place) ?? -1] ?? null);
    const link: CallLink = { spanId, parentSpanId, type: 'llm', requestId, gateway: false, estimate };
    if (!isCircle) return [link];
    return [link, { ...link, spanId: parentSpanId ?? '', parentSpanId: spanId, type: 'chain', estimate: null }];
  });
}

/** The steps of a circle that has one call in it: one that named itself would have no parent. */
const BETWEEN = 'between ';
