import type { Usd } from '../money.ts';
import {
  type CallCount,
  type CallCounts,
  countedCalls,
  countedEstimates,
  sumOfEstimates,
  sumOfKnown,
} from './estimates.ts';
import type { TraceSummary } from './trace.ts';

/** Counts of a summary in which several spans of one call count once. */
export interface CountedOnce extends CallCounts, Pick<TraceSummary, 'estimate' | 'estimatedCalls'> {}

/** The counts of all spans of a trace, each call once. */
export function countedOnce(spans: readonly CallCount[]): CountedOnce {
  const estimates = countedEstimates(spans);
  return { ...countedCalls(spans), estimate: sumOfEstimates(estimates.values()), estimatedCalls: estimates.size };
}

/** The summary with each call among all of its spans counted once. */
export const withCallsCountedOnce = (summary: TraceSummary, spans: readonly CallCount[]): TraceSummary =>
  withCounts(summary, countedOnce(spans));

/** The summary with these counts. The cost of calls that the gateway recorded is unchanged. */
export function withCounts(summary: TraceSummary, counts: CountedOnce): TraceSummary {
  const { spend, pricedCalls, estimate, estimatedCalls } = summary;
  const recorded = pricedCalls - estimatedCalls;
  const charged = recorded === 0 || spend === null ? null : ((spend - (estimate ?? 0n)) as Usd);
  return {
    ...summary,
    ...counts,
    spend: sumOfKnown(charged, counts.estimate),
    pricedCalls: recorded + counts.estimatedCalls,
  };
}

/**
 * Whether a summary that is the sum of its pieces may count a call that should not count. Only estimates and calls of
 * clients are replaced by spans of another piece. One call is enough: a step of another piece may put it into a cycle
 * of parents.
 */
export const mayRepeatCalls = ({ estimatedCalls, llmCalls, gatewayCalls }: TraceSummary): boolean =>
  estimatedCalls > 0 || llmCalls > gatewayCalls;
