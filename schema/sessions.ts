import { countSessions, listSessions } from '../resolvers/sessions.ts';
import { searchTraces } from '../resolvers/trace-search.ts';
import { msBetween } from '../src/domain/traces/assemble-trace.ts';
import { sessionCursorAfter } from '../src/domain/traces/session-cursor.ts';
import { MAX_SESSIONS, type SessionActivity, type SessionSearch } from '../src/domain/traces/sessions.ts';
import { TRACE_PAGE_SIZE } from '../src/domain/traces/trace.ts';
import { builder } from './base/builder.ts';
import { COUNT_COST } from './base/limits.ts';
import { type Connection, edgesOf, forwardPage } from './base/paging.ts';
import { instantOf } from './spans.ts';
import { usdOrNull } from './base/decimal.ts';
import { connectionOfSearch, TraceConnectionType, traceOrderOf, tracePageCost } from './trace-list.ts';
import { filtersOf, TraceFilterType, TraceOrderType, windowArgs } from './trace-search.ts';

const DEFAULT_SESSIONS = 20;
/** Traces of a session on one page when the request gives no size. */
const DEFAULT_TRACES = 10;

/** A session of a list, and the search that found it. */
interface ListedSession extends SessionActivity {
  readonly search: SessionSearch;
}

interface SessionListConnection extends Connection<ListedSession> {
  readonly search: SessionSearch;
}

const SessionType = builder.objectRef<ListedSession>('Session').implement({
  description: 'A session or conversation: the traces of a time window that state its id. See `Trace.sessionId`.',
  fields: (t) => ({
    sessionId: t.exposeString('sessionId', { description: 'Session id that its traces contain.' }),
    userId: t.exposeString('userId', {
      nullable: true,
      description: 'User of its traces. Null when no trace states a user, and when the users differ.',
    }),
    traceCount: t.exposeInt('traces', { description: 'Number of its traces.' }),
    failedTraceCount: t.exposeInt('failed', { description: 'Number of its traces with a failed span.' }),
    llmCalls: t.field({ type: 'BigInt', description: 'Number of model calls.', resolve: ({ llmCalls }) => llmCalls }),
    inputTokens: t.field({ type: 'BigInt', description: 'Input tokens.', resolve: ({ inputTokens }) => inputTokens }),
    outputTokens: t.field({
      type: 'BigInt',
      description: 'Output tokens.',
      resolve: ({ outputTokens }) => outputTokens,
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Cost of its priced calls in USD, `estimatedCostUsd` included. Null when none is priced.',
      resolve: ({ spend }) => usdOrNull(spend),
    }),
    estimatedCostUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Part of `costUsd` that is estimated from catalog prices. Null when nothing is estimated.',
      resolve: ({ estimate }) => usdOrNull(estimate),
    }),
    firstSeenAt: t.field({
      type: 'DateTime',
      description: 'Start of its first trace.',
      resolve: ({ startNs }) => instantOf(startNs),
    }),
    lastSeenAt: t.field({
      type: 'DateTime',
      description: 'End of its last trace.',
      resolve: ({ endNs }) => instantOf(endNs),
    }),
    durationMs: t.float({
      description:
        'Time from the start of its first trace to the end of its last one, in milliseconds, pauses included.',
      resolve: ({ startNs, endNs }) => msBetween(startNs, endNs),
    }),
    traces: t.field({
      type: TraceConnectionType,
      nullable: true,
      complexity: ({ first }) => tracePageCost({ first: first ?? DEFAULT_TRACES }),
      description: `Its traces that match the filter of the list, newest first by default. At most ${TRACE_PAGE_SIZE} a page.`,
      args: {
        first: t.arg.int({ description: `Page size, 1 to ${TRACE_PAGE_SIZE}; ${DEFAULT_TRACES} when absent.` }),
        after: t.arg.string({ description: 'Returns traces after this cursor.' }),
        orderBy: t.arg({ type: TraceOrderType, description: 'Newest first when absent.' }),
      },
      resolve: ({ sessionId, search: { startMs, endMs, filters } }, { first, after, orderBy }, { scope }) =>
        connectionOfSearch(
          searchTraces(scope, {
            startMs,
            endMs,
            filters: { ...filters, sessionId },
            order: traceOrderOf(orderBy),
            cursor: after ?? null,
            limit: first ?? DEFAULT_TRACES,
          }),
        ),
    }),
  }),
});

const SessionConnectionType = builder.connectionObject(
  {
    type: SessionType,
    name: 'SessionConnection',
    description: 'One page of sessions.',
    fields: (t) => ({
      totalCount: t.int({
        complexity: COUNT_COST,
        description: 'Number of sessions on all pages. Expensive: reads all traces of the window.',
        resolve: (connection, _args, { scope }) => countSessions(scope, (connection as SessionListConnection).search),
      }),
    }),
  },
  { name: 'SessionEdge', description: 'One session of a page.' },
);

builder.queryField('sessions', (t) =>
  t.field({
    type: SessionConnectionType,
    description:
      `Sessions of the traces of a window, the one with the latest trace first. At most ${MAX_SESSIONS} a page. ` +
      'Reads all traces of the window.',
    complexity: ({ first }) => ({
      field: 1,
      multiplier: Math.max(0, Math.min(first ?? DEFAULT_SESSIONS, MAX_SESSIONS)),
    }),
    args: {
      ...windowArgs(),
      first: t.arg.int({ description: `Page size, 1 to ${MAX_SESSIONS}; ${DEFAULT_SESSIONS} when absent.` }),
      after: t.arg.string({
        description:
          'Returns sessions after this cursor. The cursor contains window and filter, so these arguments are optional with it.',
      }),
      filter: t.arg({ type: TraceFilterType, description: 'Traces whose sessions are listed. All when absent.' }),
    },
    resolve: async (_root, { from, to, first, after, filter }, { scope }): Promise<SessionListConnection> => {
      const { items, hasMore, search } = await listSessions(scope, {
        startMs: from?.getTime() ?? null,
        endMs: to?.getTime() ?? null,
        filters: filter ? filtersOf(filter) : null,
        cursor: after ?? null,
        limit: first ?? DEFAULT_SESSIONS,
      });
      const sessions = items.map((session): ListedSession => ({ ...session, search }));
      const edges = edgesOf(sessions, (session) => sessionCursorAfter(search, session));
      return { ...forwardPage(edges, { hasNextPage: hasMore }), search };
    },
  }),
);
