import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { type ContentPage, contentPart, PAGE_PARTS } from '../src/domain/lens/content.ts';
import {
  assertExecutionIds,
  contentVersionOf,
  type Execution,
  executionOf,
  readExecutionId,
  type Sample,
  selectedCount,
} from '../src/domain/lens/execution.ts';
import { findingCounts } from '../src/domain/lens/finding-counts.ts';
import { isSignalCall } from '../src/domain/lens/signals.ts';
import { assertPreview, type Selection } from '../src/domain/lens/settings.ts';
import { NO_TRACE_FILTERS, traceRankOf, type TraceSearch } from '../src/domain/traces/trace-search.ts';
import type { TraceSummary } from '../src/domain/traces/trace.ts';
import { lensNamed } from './lens.ts';
import { withFeedback } from './lens-feedback.ts';
import { lensReader } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { textOrNull } from '../src/domain/optional-text.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Number of trace summaries of one read. */
const PAGE = 1_000;
/** Traces whose spans are listed by one query. */
const TRACES_PER_QUERY = 50;
/** Maximum number of executions that a sample is taken from. An execution is a trace as lenses see it. */
const MAX_ELIGIBLE = 100_000;
/** Executions of one page of a preview. */
const PREVIEW_PAGE = 100;
const MAX_AGENTS = 500;
const AGENT_DAYS = 14;
const ALL_OWNERS = { kind: 'all' } as const;

interface Window {
  readonly startMs: number;
  readonly endMs: number;
}

/** The id of a run as the trace id of its model calls. */
export const traceIdOfRun = (runId: string): string => runId.replaceAll('-', '');

/** The inverse of `traceIdOfRun`: the run id that a trace id would stand for. No such run may exist. */
export const runIdOfTrace = (traceId: string): string =>
  [0, 8, 12, 16, 20].map((start, index, starts) => traceId.slice(start, starts[index + 1] ?? 32)).join('-');

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
    const page = await traces.searchSummaries(ALL_OWNERS, search, PAGE);
    const lensRunIds = await lenses.runIdsAmong(page.map(({ traceId }) => runIdOfTrace(traceId)));
    const candidates = page.filter(({ traceId }) => !lensRunIds.has(runIdOfTrace(traceId)) && !isSignalCall(traceId));
    if (filters.length === 0) yield* candidates;
    else yield* withAttributes(scope, candidates, filters);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
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
  const [summary] = await platform.stores.traces.findSummaries(ALL_OWNERS, traceId, textOrNull(traceRef));
  return summary ?? null;
}

/**
 * The executions that a selection names, otherwise at most `MAX_ELIGIBLE` eligible ones, sorted by the hash of their
 * id. The order does not depend on time, so that a prefix of the list is a uniform sample.
 */
async function executionsByHash(
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

export interface PreviewRequest {
  readonly selection: Selection;
  readonly lookbackHours: number;
  readonly offset: number;
  /** End of the window. Null and a future time mean now. */
  readonly asOf: Date | null;
}

/**
 * A page of the executions that a lens with these settings would take its sample from. Each page reads all traces of
 * the window. Throws InvalidInput.
 */
export const readSamplePreview = operation({
  name: 'readSamplePreview',
  access: lensReader,
  async run(scope: Scope<LensPlatform>, { selection, lookbackHours, offset, asOf }: PreviewRequest): Promise<Sample> {
    assertPreview(selection, lookbackHours, offset);
    assertExecutionIds(selection.executionIds);
    const nowMs = scope.platform.clock.now().getTime();
    const endMs = Math.min(nowMs, asOf?.getTime() ?? nowMs);
    const startMs = endMs - lookbackHours * HOUR_MS;
    if (startMs < 0) {
      const message = 'Preview window exceeds the supported calendar range';
      throw new InvalidInput(message, [{ path: [], rule: 'text', message }]);
    }
    const all = await executionsByHash(scope, selection, { startMs, endMs });
    const next = offset + PREVIEW_PAGE;
    return {
      executions: all.slice(offset, next),
      eligible: all.length,
      selected: selectedCount(all.length, selection),
      nextOffset: next < all.length ? next : null,
      nextCursor: null,
    };
  },
});

/** Names of at most 500 agents of the last 14 days, sorted. */
export const listLensAgents = operation({
  name: 'listLensAgents',
  access: lensReader,
  async run(scope: Scope<LensPlatform>, _input: undefined): Promise<readonly string[]> {
    const endMs = scope.platform.clock.now().getTime() + 1;
    const search = { startMs: endMs - AGENT_DAYS * DAY_MS, endMs, filters: NO_TRACE_FILTERS };
    const agents = await scope.platform.stores.traces.agents(ALL_OWNERS, search, MAX_AGENTS);
    return agents.map(({ name }) => name).toSorted();
  },
});

/** Which kinds of activity are recorded. */
export const checkLensActivity = operation({
  name: 'checkLensActivity',
  access: lensReader,
  run: (_scope: Scope<object>, _input: undefined) => ({ traces: true, requests: false }),
});

const CURSOR = /^[0-9a-f]{16}$/;

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
  if (cursor !== null && !CURSOR.test(cursor)) throw new InvalidInput('Invalid cursor.');
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

/** Content of an execution, for the evidence of findings. Throws NotFound, and InvalidInput for a malformed cursor. */
export const getExecutionContent = operation({
  name: 'getExecutionContent',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    named: {
      readonly id: string;
      readonly executionId: string;
      readonly cursor: string | null;
      readonly offset: number;
    },
  ) {
    await lensNamed(scope, named.id);
    const page = await contentPage(scope, named);
    if (page === null) throw new NotFound('execution', named.executionId, 'Execution not found');
    return page;
  },
});

/** A trace, and the number of open findings about it. */
export interface TraceFindings {
  readonly traceId: string;
  readonly traceRef: string;
  /** Null when no open finding names the trace and no lens assessed it in its latest run. */
  readonly findingCount: number | null;
}

/** Counts the open findings about each trace. A trace that is named several times is listed once. */
export const countTraceFindings = operation({
  name: 'countTraceFindings',
  access: lensReader,
  async run(
    scope: Scope<LensPlatform>,
    traces: readonly { readonly traceId: string; readonly traceRef: string }[],
  ): Promise<readonly TraceFindings[]> {
    const unique = [...new Map(traces.map((one) => [JSON.stringify([one.traceId, one.traceRef]), one])).values()];
    const counts = findingCounts(await scope.platform.stores.lenses.all(), unique);
    return unique.map((trace, at) => ({ ...trace, findingCount: counts[at] ?? null }));
  },
});

/**
 * The number of open findings about a trace. `parts` are the stored traces that the trace is merged from. Null as in
 * `TraceFindings`.
 */
export const countFindingsOfTrace = operation({
  name: 'countFindingsOfTrace',
  access: lensReader,
  async run(
    { loaders }: Scope<LensPlatform>,
    parts: readonly { readonly traceId: string; readonly traceRef: string }[],
  ): Promise<number | null> {
    const counts = await Promise.all(parts.map((part) => loaders.findingCountByTrace.load(part)));
    const known = counts.filter((count) => count !== null);
    return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
  },
});
