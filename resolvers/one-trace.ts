import { namedByFirst } from '../src/domain/traces/assemble-trace.ts';
import type { Trace, TraceSummary } from '../src/domain/traces/trace.ts';
import { traceReader } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { assembled, type TraceAddress, visibleSummaries } from './traces.ts';

/**
 * A trace with its summary. Spans and agents are present only for a merged trace, whose spans several owners sent.
 */
export type FoundTrace = Pick<Trace, 'summary' | 'parts'> & Partial<Pick<Trace, 'spans' | 'agents'>>;

/** One trace by its id, or null when there is none that the caller may see. */
export const findTrace = operation({
  name: 'findTrace',
  access: traceReader,
  run: async (scope: Scope<TracePlatform>, address: TraceAddress): Promise<FoundTrace | null> =>
    traceOfSummaries(scope, await visibleSummaries(scope, address)),
});

/** The trace that has these visible summaries, one for each owner. Null when the list is empty. */
export async function traceOfSummaries(
  scope: Scope<TracePlatform>,
  summaries: readonly TraceSummary[],
): Promise<FoundTrace | null> {
  const [summary, ...others] = summaries;
  if (summary === undefined) return null;
  // A trace of several owners is merged from all of its spans.
  if (others.length > 0) return assembled(scope, summaries);
  const { traceId, traceRef, owner } = summary;
  return { summary: await namedSummary(scope, summary), parts: [{ traceId, traceRef, owner }] };
}

/** A trace whose root span is not stored gets the name of its first span. */
async function namedSummary(scope: Scope<TracePlatform>, summary: TraceSummary): Promise<TraceSummary> {
  if (summary.rootNs !== null || summary.name !== '') return summary;
  return namedByFirst(summary, (await scope.platform.stores.traces.listSpanPage(summary, null, 1))[0]);
}
