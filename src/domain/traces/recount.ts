import { addUsd, type Usd } from '../money.ts';
import { type CallCount, countedCalls, countedEstimates, sumOfEstimates } from './estimates.ts';
import type { TraceSummary } from './trace.ts';

type Spend = Pick<TraceSummary, 'spend' | 'pricedCalls' | 'estimate' | 'estimatedCalls'>;

/** A summary with each call among all of its spans counted once, in place of what was counted as they came. */
export function withCallsCountedOnce(summary: TraceSummary, spans: readonly CallCount[]): TraceSummary {
  const estimates = [...countedEstimates(spans).values()];
  return { ...summary, ...countedCalls(spans), ...recounted(summary, estimates) };
}

function recounted({ spend, pricedCalls, estimate, estimatedCalls }: Spend, counted: readonly Usd[]): Spend {
  const recorded = pricedCalls - estimatedCalls;
  const charged = recorded === 0 || spend === null ? null : ((spend - (estimate ?? 0n)) as Usd);
  const total = sumOfEstimates(counted);
  return {
    spend: charged === null ? total : total === null ? charged : addUsd(charged, total),
    pricedCalls: recorded + counted.length,
    estimate: total,
    estimatedCalls: counted.length,
  };
}

/** Whether spans that were counted apart may tell of one call. */
export const mayTellAgain = ({ estimatedCalls, llmCalls, gatewayCalls }: TraceSummary): boolean =>
  llmCalls > 1 && (estimatedCalls > 0 || (gatewayCalls > 0 && llmCalls > gatewayCalls));
