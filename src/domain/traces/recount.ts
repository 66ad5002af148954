import { addUsd, type Usd } from '../money.ts';
import { type CallCount, type CallCounts, countedCalls, countedEstimates, sumOfEstimates } from './estimates.ts';
import type { TraceSummary } from './trace.ts';

/** What a summary says of calls that several spans may tell of. */
export interface CountedOnce extends CallCounts, Pick<TraceSummary, 'estimate' | 'estimatedCalls'> {}

/** A summary with each call among all of its spans counted once, in place of what was counted as they came. */
export function withCallsCountedOnce(summary: TraceSummary, spans: readonly CallCount[]): TraceSummary {
  const estimates = countedEstimates(spans);
  return withCounts(summary, {
    ...countedCalls(spans),
    estimate: sumOfEstimates(estimates.values()),
    estimatedCalls: estimates.size,
  });
}

/** A summary with these counts in place of its own; what the gateway charged stays. */
export function withCounts(summary: TraceSummary, counts: CountedOnce): TraceSummary {
  const { spend, pricedCalls, estimate, estimatedCalls } = summary;
  const recorded = pricedCalls - estimatedCalls;
  const charged = recorded === 0 || spend === null ? null : ((spend - (estimate ?? 0n)) as Usd);
  const total = counts.estimate;
  return {
    ...summary,
    ...counts,
    spend: charged === null ? total : total === null ? charged : addUsd(charged, total),
    pricedCalls: recorded + counts.estimatedCalls,
  };
}

/** Whether a summary that spans were added to as they came may count a call twice. */
export const mayTellAgain = ({ estimatedCalls, llmCalls, gatewayCalls }: TraceSummary): boolean =>
  estimatedCalls > 0 || (gatewayCalls > 0 && llmCalls > gatewayCalls);
