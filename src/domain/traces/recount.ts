import { addUsd, type Usd } from '../money.ts';
import { type CallLink, countedEstimates, sumOfEstimates } from './estimates.ts';
import type { TraceSummary } from './trace.ts';

type Spend = Pick<TraceSummary, 'spend' | 'pricedCalls' | 'estimate' | 'estimatedCalls'>;

/** A summary with the estimates that count among all of its spans, in place of those counted as they came. */
export function withCountedEstimates(summary: TraceSummary, spans: readonly CallLink[]): TraceSummary {
  return { ...summary, ...recounted(summary, [...countedEstimates(spans).values()]) };
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
export const mayTellAgain = ({ estimatedCalls, llmCalls }: TraceSummary): boolean => estimatedCalls > 0 && llmCalls > 1;
