import { visibilityOf } from '../src/domain/caller.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { Page } from '../src/domain/page.ts';
import { TRACE_PAGE_SIZE, type TraceSummary } from '../src/domain/traces/trace.ts';
import { readSearchCursor, searchCursorAfter } from '../src/domain/traces/search-cursor.ts';
import {
  type AgentActivity,
  emptyBucket,
  MOST_AGENTS,
  MOST_BUCKETS,
  NO_FILTERS,
  type TraceBucket,
  type TraceFilters,
  type TraceOrder,
  type TraceSearch,
} from '../src/domain/traces/trace-search.ts';
import { traceReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

const DAY_MS = 86_400_000;
const DEFAULT_BUCKETS = 24;

export interface TraceSearchQuery {
  /** Unix milliseconds, inclusive; null for 24 hours before the end. */
  readonly startMs: number | null;
  /** Unix milliseconds, exclusive; null for now. */
  readonly endMs: number | null;
  /** Null for those of the cursor, and for none. */
  readonly filters: TraceFilters | null;
  /** Null for that of the cursor, and for the newest first. */
  readonly order: TraceOrder | null;
  /** Where the page before ended; its own window holds. */
  readonly cursor: string | null;
  /** 1 to 50. */
  readonly limit: number;
}

/** A page of summaries and the search it is of, which a cursor for any of its rows needs. */
export interface TraceSearchPage extends Page<TraceSummary> {
  readonly search: TraceSearch;
}

function windowOf(
  scope: Scope,
  { startMs, endMs }: Pick<TraceSearchQuery, 'startMs' | 'endMs'>,
): { readonly startMs: number; readonly endMs: number } {
  const end = endMs ?? scope.platform.clock.now().getTime();
  const start = startMs ?? end - DAY_MS;
  if (start >= end) throw new InvalidInput('The window is empty: its start must be before its end.');
  return { startMs: start, endMs: end };
}

/** Traces that began inside a window and are what is asked, the greatest of an order first. Throws InvalidInput. */
export const searchTraces = operation({
  name: 'searchTraces',
  access: traceReader,
  async run(scope: Scope, query: TraceSearchQuery): Promise<TraceSearchPage> {
    const { cursor, filters, order, limit } = query;
    if (!Number.isInteger(limit) || limit < 1 || limit > TRACE_PAGE_SIZE)
      throw new InvalidInput(`A page holds 1 to ${TRACE_PAGE_SIZE} traces.`);
    const search: TraceSearch =
      cursor === null
        ? { ...windowOf(scope, query), filters: filters ?? NO_FILTERS, order: order ?? 'start', after: null }
        : readSearchCursor(cursor, { filters, order });
    const { startMs, endMs } = query;
    if ((startMs !== null && startMs !== search.startMs) || (endMs !== null && endMs !== search.endMs))
      throw new InvalidInput('The cursor belongs to another window.');
    await scope.platform.recordsReadable();
    const items = await scope.platform.stores.traces.searchSummaries(visibilityOf(callerOf(scope)), search, limit);
    const last = items.length === limit ? items.at(-1) : undefined;
    return { items, nextCursor: last === undefined ? null : searchCursorAfter(search, last), search };
  },
});

export interface AgentQuery extends Pick<TraceSearchQuery, 'startMs' | 'endMs'> {
  readonly filters: TraceFilters;
  /** 1 to 500. */
  readonly limit: number;
}

/** The agents that the traces of a window name, whoever took part in the latest first. Throws InvalidInput. */
export const listTraceAgents = operation({
  name: 'listTraceAgents',
  access: traceReader,
  async run(scope: Scope, query: AgentQuery): Promise<readonly AgentActivity[]> {
    if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > MOST_AGENTS)
      throw new InvalidInput(`An answer has 1 to ${MOST_AGENTS} agents.`);
    const search = { ...windowOf(scope, query), filters: query.filters };
    await scope.platform.recordsReadable();
    return scope.platform.stores.traces.agents(visibilityOf(callerOf(scope)), search, query.limit);
  },
});

export interface TraceSeriesQuery extends Pick<TraceSearchQuery, 'startMs' | 'endMs'> {
  readonly filters: TraceFilters;
  /** 1 to 500; null for 24. */
  readonly buckets: number | null;
}

/**
 * What the traces of a window come to, in stretches of one length, whole milliseconds and none left out: the last ends
 * at the end of the window or behind it. Throws InvalidInput.
 */
export const listTraceSeries = operation({
  name: 'listTraceSeries',
  access: traceReader,
  async run(scope: Scope, query: TraceSeriesQuery): Promise<readonly TraceBucket[]> {
    const wanted = query.buckets ?? DEFAULT_BUCKETS;
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > MOST_BUCKETS)
      throw new InvalidInput(`A series has 1 to ${MOST_BUCKETS} buckets.`);
    const { startMs, endMs } = windowOf(scope, query);
    const bucketMs = Math.ceil((endMs - startMs) / wanted);
    await scope.platform.recordsReadable();
    const filled = await scope.platform.stores.traces.series(visibilityOf(callerOf(scope)), {
      startMs,
      endMs,
      bucketMs,
      filters: query.filters,
    });
    const byStart = new Map(filled.map((bucket) => [bucket.startMs, bucket]));
    return Array.from({ length: Math.ceil((endMs - startMs) / bucketMs) }, (_, place) => {
      const at = startMs + place * bucketMs;
      return byStart.get(at) ?? emptyBucket(at);
    });
  },
});
