import { countTraces, searchTraces, type TraceCountQuery, type TraceSearchPage } from '../resolvers/trace-search.ts';
import { listTraces, type TracePage, type TraceUpdate, watchTraces } from '../resolvers/traces.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { Unsupported } from '../src/domain/errors.ts';
import { cursorAfter } from '../src/domain/traces/cursor.ts';
import { isSearchCursor, searchCursorAfter } from '../src/domain/traces/search-cursor.ts';
import { type TraceSummary, TRACE_PAGE_SIZE } from '../src/domain/traces/trace.ts';
import { NO_TRACE_FILTERS, type TraceOrder } from '../src/domain/traces/trace-search.ts';
import { builder } from './base/builder.ts';
import { droppedUpdates } from './base/shared-fields.ts';
import { traceAddressOf } from './base/trace-address.ts';
import { COUNT_COST } from './base/limits.ts';
import { type Connection, edgesOf, forwardPage } from './base/paging.ts';
import { type PartialTrace, TraceType } from './base/refs.ts';
import { type FilterInput, filtersOf, TraceFilterType, TraceOrderType, windowArgs } from './trace-search.ts';

interface TraceListConnection extends Connection<PartialTrace> {
  /** Query that counts the traces of all pages; null when no trace can match. */
  readonly countQuery: TraceCountQuery | null;
}

export const TraceConnectionType = builder.connectionObject(
  {
    type: TraceType,
    name: 'TraceConnection',
    description: 'One page of traces.',
    fields: (t) => ({
      totalCount: t.int({
        complexity: COUNT_COST,
        description: 'Number of traces on all pages. Expensive: counts all traces of the window.',
        resolve: (connection, _args, { scope }) => {
          const { countQuery } = connection as TraceListConnection;
          return countQuery === null ? 0 : countTraces(scope, countQuery);
        },
      }),
    }),
  },
  { name: 'TraceEdge', description: 'One trace of a page.' },
);

function connectionOf(
  { items, hasMore }: { readonly items: readonly TraceSummary[]; readonly hasMore: boolean },
  cursorOf: (summary: TraceSummary) => string,
  countQuery: TraceCountQuery | null,
): TraceListConnection {
  const traces = items.map((summary): PartialTrace => ({ summary }));
  const edges = edgesOf(traces, ({ summary }) => cursorOf(summary));
  return { ...forwardPage(edges, { hasNextPage: hasMore }), countQuery };
}

async function connectionOfPage(page: Promise<TracePage>): Promise<TraceListConnection> {
  const { items, hasMore, window } = await page;
  const countQuery = { ...window, filters: NO_TRACE_FILTERS };
  return connectionOf({ items, hasMore }, (summary) => cursorAfter(window, summary), countQuery);
}

export async function connectionOfSearch(page: Promise<TraceSearchPage>): Promise<TraceListConnection> {
  const { items, hasMore, search } = await page;
  return connectionOf({ items, hasMore }, (summary) => searchCursorAfter(search, summary), search);
}

/** Arguments of a page of traces. */
interface TraceListArgs {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly filter?: FilterInput | null | undefined;
  readonly orderBy?: typeof TraceOrderType.$inferInput | null | undefined;
}

/** The requested order; null without one. Throws Unsupported for an ascending order. */
export function traceOrderOf(orderBy: TraceListArgs['orderBy']): TraceOrder | null {
  if (orderBy?.direction === 'ascending') throw new Unsupported('Traces support the direction DESC only.');
  return orderBy?.field ?? null;
}

/** A page of the traces of a team that match a filter. */
export async function tracesOfTeam(scope: Scope, teamId: string, args: TraceListArgs): Promise<TraceListConnection> {
  const order = traceOrderOf(args.orderBy);
  const filters = filtersOf(args.filter);
  if (filters.teamId !== null && filters.teamId !== teamId)
    return connectionOf({ items: [], hasMore: false }, () => '', null);
  return await connectionOfSearch(
    searchTraces(scope, {
      startMs: args.from?.getTime() ?? null,
      endMs: args.to?.getTime() ?? null,
      cursor: args.after ?? null,
      limit: args.first ?? TRACE_PAGE_SIZE,
      filters: { ...filters, teamId },
      order,
    }),
  );
}

/** Cost of a page of traces. */
export const tracePageCost = ({ first }: { readonly first?: number | null | undefined }) => ({
  field: 1,
  multiplier: Math.max(0, Math.min(first ?? TRACE_PAGE_SIZE, TRACE_PAGE_SIZE)),
});

builder.queryField('traces', (t) =>
  t.field({
    type: TraceConnectionType,
    description: `Traces that began inside a window, newest first by default. At most ${TRACE_PAGE_SIZE} a page.`,
    complexity: tracePageCost,
    args: {
      ...windowArgs(),
      first: t.arg.int({ description: `Page size, 1 to ${TRACE_PAGE_SIZE}; ${TRACE_PAGE_SIZE} when absent.` }),
      after: t.arg.string({
        description:
          'Returns traces after this cursor. The cursor contains window, filter and order, so these arguments are optional with it.',
      }),
      filter: t.arg({ type: TraceFilterType, description: 'All traces when absent.' }),
      orderBy: t.arg({ type: TraceOrderType, description: 'Newest first when absent.' }),
    },
    resolve(_root, { from, to, first, after, filter, orderBy }, { scope }) {
      const order = traceOrderOf(orderBy);
      const page = {
        startMs: from?.getTime() ?? null,
        endMs: to?.getTime() ?? null,
        cursor: after ?? null,
        limit: first ?? TRACE_PAGE_SIZE,
      };
      const isSearch = filter || orderBy || isSearchCursor(after ?? '');
      if (!isSearch) return connectionOfPage(listTraces(scope, page));
      return connectionOfSearch(searchTraces(scope, { ...page, filters: filter ? filtersOf(filter) : null, order }));
    },
  }),
);

const TraceUpdateType = builder.objectRef<TraceUpdate>('TraceUpdate').implement({
  description: 'A trace after spans of it were stored.',
  fields: (t) => ({
    cursor: t.exposeString('id', { description: 'Position of this update. Pass it as `after` to resume.' }),
    trace: t.field({
      type: TraceType,
      description: 'The trace.',
      resolve: ({ event: { summary } }): PartialTrace => ({ summary }),
    }),
    ...droppedUpdates(t),
  }),
});

builder.subscriptionField('traceUpdates', (t) =>
  t.field({
    type: TraceUpdateType,
    description:
      'Traces whenever spans of them are stored: the complete summary, not a difference. Ends within seconds when the ' +
      'key may no longer read, and with CONFLICT when the key may still read, but with other rights.',
    args: {
      traceId: t.arg.id({ description: 'Trace id or global id of one trace; all traces when absent.' }),
      filter: t.arg({ type: TraceFilterType, description: 'Traces that match after the update. All when absent.' }),
      after: t.arg.string({
        description:
          'Cursor of the last received update: the updates since then are sent first. CONFLICT when it is older than ' +
          'the last 512 updates.',
      }),
    },
    subscribe: (_root, { traceId, after, filter }, { scope }) =>
      watchTraces(scope, {
        traceId: typeof traceId === 'string' ? traceAddressOf(traceId, null).traceId : null,
        after: after ?? null,
        filters: filtersOf(filter),
      }),
    resolve: (update) => update,
  }),
);
