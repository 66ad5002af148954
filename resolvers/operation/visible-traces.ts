import { visibilityOf } from '../../src/domain/caller.ts';
import { assembleTrace, namedByFirst } from '../../src/domain/traces/assemble-trace.ts';
import type { SpanHead } from '../../src/domain/traces/span.ts';
import type { Trace, TraceSummary } from '../../src/domain/traces/trace.ts';
import { nullIfEmpty } from '../../src/domain/optional-text.ts';
import type { TraceAddress } from '../../src/domain/traces/store.ts';
import { callerOf } from './operation.ts';
import type { TracePlatform } from './platform.ts';
import type { Scope } from './scope.ts';

const TRACE_ID = /^[0-9a-f]{32}$/;
const TRACE_REF = /^[\x21-\x7e]{1,512}$/;

/** Merges traces into one, with all spans; null without a summary. The loader caches the spans for other fields. */
export async function assembled(
  scope: Scope<TracePlatform>,
  summaries: readonly TraceSummary[],
): Promise<Trace | null> {
  const spans = await scope.loaders.spansByTrace.loadMany(summaries);
  const byRef = summaries.map(({ traceRef }, at): readonly [string, readonly SpanHead[]] => {
    const ofSummary = spans[at];
    if (ofSummary instanceof Error) throw ofSummary;
    return [traceRef, ofSummary ?? []];
  });
  return assembleTrace(summaries, new Map(byRef));
}

/** Visible summaries of the traces at an address. Ids of an invalid form are not looked up. */
export const visibleSummaries = async (
  scope: Scope<TracePlatform>,
  address: TraceAddress,
): Promise<readonly TraceSummary[]> => (await visibleTraces(scope, address)).summaries;

/** As `visibleSummaries`. `spendPending` tells whether calls that have ended may be missing. */
export async function visibleTraces(
  scope: Scope<TracePlatform>,
  { traceId, traceRef }: TraceAddress,
): Promise<{ readonly summaries: readonly TraceSummary[]; readonly spendPending: boolean }> {
  const wanted = traceId.toLowerCase();
  const ref = nullIfEmpty(traceRef);
  if (!TRACE_ID.test(wanted) || (ref !== null && !TRACE_REF.test(ref))) return { summaries: [], spendPending: false };
  const readable = await scope.platform.records.readable();
  const summaries = await scope.platform.stores.traces.findSummaries(visibilityOf(callerOf(scope)), wanted, ref);
  return { summaries, spendPending: !readable };
}

/**
 * A trace with its summary. Spans and agents are present only for a merged trace, whose spans several owners sent.
 */
export type FoundTrace = Pick<Trace, 'summary' | 'parts'> & Partial<Pick<Trace, 'spans' | 'agents'>>;

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
