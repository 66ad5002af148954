import { InvalidInput } from '../../src/domain/errors.ts';
import { type ContentPage, contentPart, PAGE_PARTS } from '../../src/domain/lens/content.ts';
import {
  contentVersionOf,
  type Execution,
  executionOf,
  readExecutionId,
  type Sample,
  selectedCount,
} from '../../src/domain/lens/execution.ts';
import { isSignalCall } from '../../src/domain/lens/signals.ts';
import type { Selection } from '../../src/domain/lens/settings.ts';
import { NO_TRACE_FILTERS, traceRankOf, type TraceSearch } from '../../src/domain/traces/trace-search.ts';
import type { TraceSummary } from '../../src/domain/traces/trace.ts';
import { nullIfEmpty } from '../../src/domain/optional-text.ts';
import { runIdOfTrace } from '../../src/domain/lens/lens.ts';
import type { LensPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import { withFeedback } from './lens-feedback.ts';

/** Number of trace summaries of one read. */
const PAGE_SIZE = 1_000;
/** Traces whose spans are listed by one query. */
const TRACES_PER_QUERY = 50;
/** Maximum number of executions that a sample is taken from. An execution is a trace as lenses see it. */
const MAX_ELIGIBLE = 100_000;
/** Visibility of the traces of every owner. */
export const ALL_OWNERS = { kind: 'all' } as const;

interface Window {
  readonly startMs: number;
  readonly endMs: number;
}

/** Whether one span has all the attributes. `spanIds` are those of the trace. */
async function hasAttributes(
  { platform, signal }: Scope<LensPlatform>,
  { summary, spanIds }: { readonly summary: TraceSummary; readonly spanIds: readonly string[] },
  filters: Selection['filters'],
): Promise<boolean> {
  for (let from = 0; from < spanIds.length; from += PAGE_PARTS) {
    // Stops when the client has disconnected, because each read decompresses the stored bodies of the spans.
    signal.throwIfAborted();
    const ids = spanIds.slice(from, from + PAGE_PARTS);
    for (const { resourceAttributes, attributes } of await platform.stores.traces.findSpans(summary, ids)) {
      const values = { ...resourceAttributes, ...attributes };
      if (filters.every(({ key, value }) => values[key] === value)) return true;
    }
  }
  return false;
}

/** Yields the traces that have a span with all the attributes. */
async function* withAttributes(
  scope: Scope<LensPlatform>,
  summaries: readonly TraceSummary[],
  filters: Selection['filters'],
): AsyncGenerator<TraceSummary> {
  for (let from = 0; from < summaries.length; from += TRACES_PER_QUERY) {
    const some = summaries.slice(from, from + TRACES_PER_QUERY);
    const heads = await scope.platform.stores.traces.listSpans(some);
    // Sequentially: bodies up to `offloadBytes` are decompressed on the event loop.
    for (const summary of some) {
      const spanIds = (heads.get(summary.traceRef) ?? []).map(({ spanId }) => spanId);
      if (await hasAttributes(scope, { summary, spanIds }, filters)) yield summary;
    }
  }
}

/**
 * Summaries of the traces of a window that match a selection. Traces of model calls that lens runs and signals send are
 * left out.
 */
async function* eligibleTraces(
  scope: Scope<LensPlatform>,
  { service, agentName, teamId, filters }: Selection,
  window: Window,
): AsyncGenerator<TraceSummary> {
  const { traces, lenses } = scope.platform.stores;
  const wanted = { service: service || null, agent: agentName || null, teamId: teamId || null };
  let after: TraceSearch['after'] = null;
  for (;;) {
    const search = { ...window, filters: { ...NO_TRACE_FILTERS, ...wanted }, order: 'start', after } as const;
    scope.signal.throwIfAborted();
    const page = await traces.searchSummaries(ALL_OWNERS, search, PAGE_SIZE);
    const lensRunIds = await lenses.runIdsAmong(page.map(({ traceId }) => runIdOfTrace(traceId)));
    const candidates = page.filter(({ traceId }) => !lensRunIds.has(runIdOfTrace(traceId)) && !isSignalCall(traceId));
    if (filters.length === 0) yield* candidates;
    else yield* withAttributes(scope, candidates, filters);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIZE) return;
    after = { rank: traceRankOf(last, 'start'), traceRef: last.traceRef };
  }
}

/** The executions with these ids. Unknown and deleted ones are left out. */
async function namedExecutions(scope: Scope<LensPlatform>, ids: readonly string[]): Promise<readonly Execution[]> {
  const found = await Promise.all(ids.map((id) => summaryOf(scope, id)));
  return found.flatMap((summary) => (summary === null ? [] : [executionOf(summary)]));
}

async function summaryOf({ platform }: Scope<LensPlatform>, executionId: string): Promise<TraceSummary | null> {
  const address = readExecutionId(executionId);
  if (address === null) return null;
  const { traceId, traceRef } = address;
  const [summary] = await platform.stores.traces.findSummaries(ALL_OWNERS, traceId, nullIfEmpty(traceRef));
  return summary ?? null;
}

/**
 * The executions that a selection names, otherwise at most `MAX_ELIGIBLE` eligible ones, sorted by the hash of their
 * id. The order does not depend on time, so that a prefix of the list is a uniform sample.
 */
export async function executionsByHash(
  scope: Scope<LensPlatform>,
  selection: Selection,
  window: Window,
): Promise<readonly Execution[]> {
  const { keyGenerator, records } = scope.platform;
  await records.readable();
  const found: Execution[] = [];
  if (selection.executionIds.length > 0) found.push(...(await namedExecutions(scope, selection.executionIds)));
  else
    for await (const summary of eligibleTraces(scope, selection, window)) {
      found.push(executionOf(summary));
      if (found.length >= MAX_ELIGIBLE) break;
    }
  return found
    .map((execution) => ({ execution, key: keyGenerator.hash(execution.id) }))
    .toSorted((left, right) => (left.key < right.key ? -1 : 1))
    .map(({ execution }) => execution);
}

/** Chooses the executions of a run. */
export async function sampleOf(scope: Scope<LensPlatform>, selection: Selection, window: Window): Promise<Sample> {
  const all = await executionsByHash(scope, selection, window);
  const selected = selectedCount(all.length, selection);
  const executions = await withFeedback(scope, all.slice(0, selected));
  return { executions, eligible: all.length, selected, nextOffset: null, nextCursor: null };
}

const SPAN_ID = /^[0-9a-f]{16}$/;

/**
 * A page of the content of an execution. `cursor` is the id of the last span of the previous page; an unknown id
 * returns the first page. `offset` is the first character of each part. Null when the trace does not exist. Throws
 * InvalidInput for a malformed cursor.
 */
export async function contentPage(
  scope: Scope<LensPlatform>,
  {
    executionId,
    cursor,
    offset,
  }: { readonly executionId: string; readonly cursor: string | null; readonly offset: number },
): Promise<(ContentPage & { readonly execution: Execution }) | null> {
  const { traces } = scope.platform.stores;
  const summary = await summaryOf(scope, executionId);
  if (summary === null) return null;
  const heads = (await traces.listSpans([summary])).get(summary.traceRef) ?? [];
  if (cursor !== null && !SPAN_ID.test(cursor)) throw new InvalidInput('Invalid cursor.');
  const start = heads.findIndex(({ spanId }) => spanId === cursor) + 1;
  const page = heads.slice(start, start + PAGE_PARTS);
  const spans = await traces.findSpans(
    summary,
    page.map(({ spanId }) => spanId),
  );
  const parts = spans.map((span) => contentPart(executionId, span, offset));
  return {
    execution: executionOf(summary),
    parts,
    nextCursor: start + page.length < heads.length ? (page.at(-1)?.spanId ?? null) : null,
    partial: true,
    contentVersion: contentVersionOf(summary),
  };
}
