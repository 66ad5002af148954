import { visibilityOf } from '../src/domain/caller.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { pageOfRows } from '../src/domain/page.ts';
import { TRACE_PAGE_SIZE, type TraceSummary } from '../src/domain/traces/trace.ts';
import { readSearchCursor } from '../src/domain/traces/search-cursor.ts';
import {
  type AgentActivity,
  emptyBucket,
  MAX_AGENTS,
  MAX_BUCKETS,
  NO_TRACE_FILTERS,
  type TraceBucket,
  type TraceFilters,
  type TraceOrder,
  type TraceSearch,
  windowOf,
} from '../src/domain/traces/trace-search.ts';
import { traceReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';

const DEFAULT_BUCKETS = 24;

export interface TraceSearchQuery {
  /** Unix milliseconds, inclusive; null for 24 hours before the end. */
  readonly startMs: number | null;
  /** Unix milliseconds, exclusive; null for now. */
  readonly endMs: number | null;
  /** Null means the filters of the cursor, and no filter on the first page. */
  readonly filters: TraceFilters | null;
  /** Null means the order of the cursor, and the newest first on the first page. */
  readonly order: TraceOrder | null;
  /** Cursor of the previous page, which contains its window; null for the first page. */
  readonly cursor: string | null;
  /** 1 to 50. */
  readonly limit: number;
}

/** A page of summaries, and the search that cursors of its rows contain. */
export interface TraceSearchPage {
  readonly items: readonly TraceSummary[];
  readonly hasMore: boolean;
  readonly search: TraceSearch;
}

/** Traces that started in a window and match the filters, in the descending order of the query. Throws InvalidInput. */
export const searchTraces = operation({
  name: 'searchTraces',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, query: TraceSearchQuery): Promise<TraceSearchPage> {
    const { cursor, filters, order, limit } = query;
    checkedPageSize(limit, { max: TRACE_PAGE_SIZE });
    const search: TraceSearch =
      cursor === null
        ? {
            ...windowOf(query, scope.platform.clock.now().getTime()),
            filters: filters ?? NO_TRACE_FILTERS,
            order: order ?? 'start',
            after: null,
          }
        : readSearchCursor(cursor, { filters, order });
    const startMs = query.startMs ?? search.startMs;
    const endMs = query.endMs ?? search.endMs;
    if (startMs !== search.startMs || endMs !== search.endMs)
      throw new InvalidInput('The cursor belongs to another window.');
    await scope.platform.records.readable();
    const rows = await scope.platform.stores.traces.searchSummaries(visibilityOf(callerOf(scope)), search, limit + 1);
    return { ...pageOfRows(rows, limit), search };
  },
});

/** The traces of a window that match filters. */
export interface TraceCountQuery {
  /** Window in Unix milliseconds: start inclusive, end exclusive. */
  readonly startMs: number;
  readonly endMs: number;
  readonly filters: TraceFilters;
}

/** Number of traces that began inside a window and match the filters. */
export const countTraces = operation({
  name: 'countTraces',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, { startMs, endMs, filters }: TraceCountQuery): Promise<number> {
    const whole = { startMs, endMs, bucketMs: endMs - startMs, filters };
    const buckets = await scope.platform.stores.traces.series(visibilityOf(callerOf(scope)), whole);
    return buckets.reduce((sum, { traces }) => sum + traces, 0);
  },
});

export interface AgentQuery extends Pick<TraceSearchQuery, 'startMs' | 'endMs'> {
  readonly filters: TraceFilters;
  /** 1 to 500. */
  readonly limit: number;
  /** Length of the window of a query without a start, in days; 1 when absent. */
  readonly days?: number;
}

/** Agents of the traces of a window, the most recently active first. Throws InvalidInput. */
export const listTraceAgents = operation({
  name: 'listTraceAgents',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, query: AgentQuery): Promise<readonly AgentActivity[]> {
    checkedPageSize(query.limit, { max: MAX_AGENTS });
    const search = { ...windowOf(query, scope.platform.clock.now().getTime(), query.days), filters: query.filters };
    await scope.platform.records.readable();
    return scope.platform.stores.traces.agents(visibilityOf(callerOf(scope)), search, query.limit);
  },
});

export interface TraceSeriesQuery extends Pick<TraceSearchQuery, 'startMs' | 'endMs'> {
  readonly filters: TraceFilters;
  /** 1 to 500; null for 24. */
  readonly buckets: number | null;
}

/**
 * Sums of the traces of a window in buckets of equal length, in whole milliseconds and without gaps. The last bucket
 * ends at the end of the window or after it. Throws InvalidInput.
 */
export const listTraceSeries = operation({
  name: 'listTraceSeries',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, query: TraceSeriesQuery): Promise<readonly TraceBucket[]> {
    const wanted = query.buckets ?? DEFAULT_BUCKETS;
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > MAX_BUCKETS)
      throw new InvalidInput(`A series has 1 to ${MAX_BUCKETS} buckets.`);
    const { startMs, endMs } = windowOf(query, scope.platform.clock.now().getTime());
    const bucketMs = Math.ceil((endMs - startMs) / wanted);
    await scope.platform.records.readable();
    const filled = await scope.platform.stores.traces.series(visibilityOf(callerOf(scope)), {
      startMs,
      endMs,
      bucketMs,
      filters: query.filters,
    });
    const byStart = new Map(filled.map((bucket) => [bucket.startMs, bucket]));
    return Array.from({ length: Math.ceil((endMs - startMs) / bucketMs) }, (_, index) => {
      const bucketStartMs = startMs + index * bucketMs;
      return byStart.get(bucketStartMs) ?? emptyBucket(bucketStartMs);
    });
  },
});
