import { addUsd, type Usd } from '../money.ts';
import type { CallUsage } from './call-usage.ts';
import { type CallLink, countedEstimates, sumOfEstimates } from './estimates.ts';
import type { PackedCall, PackedExport, PackedTrace } from './packed.ts';
import { withEstimates } from './span-rows.ts';

/** What a call costs by the catalog; null where that would be a guess. */
export type CallEstimator = (usage: CallUsage) => Usd | null;

/**
 * An export with what its calls are estimated to cost, in the rows of their spans and in the tallies of their traces.
 * Exports are read where no catalog is at hand, so that this comes after.
 */
export function estimatedExport(
  { body, traces }: PackedExport,
  estimateOf: (call: PackedCall) => Usd | null,
): PackedExport {
  return { body, traces: traces.map((trace) => estimatedTrace(trace, estimateOf)) };
}

function estimatedTrace(trace: PackedTrace, estimateOf: (call: PackedCall) => Usd | null): PackedTrace {
  const { calls, tally, rows } = trace;
  const links = calls.map((call): CallLink & { readonly end: number } => ({
    spanId: call.spanId,
    parentSpanId: call.callAbove,
    type: 'llm',
    requestId: call.requestId,
    gateway: false,
    estimate: estimateOf(call),
    end: call.end,
  }));
  const estimates = links.flatMap(({ end, estimate }) => (estimate === null ? [] : [{ end, estimate }]));
  if (estimates.length === 0) return trace;
  const counted = countedEstimates(links);
  const estimate = sumOfEstimates(counted.values());
  return {
    ...trace,
    rows: withEstimates(rows, estimates),
    tally: {
      ...tally,
      spend: tally.spend === null || estimate === null ? (tally.spend ?? estimate) : addUsd(tally.spend, estimate),
      pricedCalls: tally.pricedCalls + counted.size,
      estimate,
      estimatedCalls: counted.size,
    },
  };
}
