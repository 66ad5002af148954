import { visibilityOf } from '../src/domain/caller.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { pageOfRows } from '../src/domain/page.ts';
import { readSessionCursor } from '../src/domain/traces/session-cursor.ts';
import { MAX_SESSIONS, type SessionActivity, type SessionSearch } from '../src/domain/traces/sessions.ts';
import { NO_TRACE_FILTERS, type TraceFilters, windowOf } from '../src/domain/traces/trace-search.ts';
import { traceReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';

/** Query for one page of sessions. A session consists of the traces that state its id. */
export interface SessionQuery {
  /** Unix milliseconds, inclusive; null for 24 hours before the end. */
  readonly startMs: number | null;
  /** Unix milliseconds, exclusive; null for now. */
  readonly endMs: number | null;
  /** Null means the filters of the cursor, and no filter on the first page. */
  readonly filters: TraceFilters | null;
  /** Cursor of the previous page, which contains its window; null for the first page. */
  readonly cursor: string | null;
  /** 1 to 100. */
  readonly limit: number;
}

/** A page of sessions, and the search that cursors of its rows contain. */
export interface SessionPage {
  readonly items: readonly SessionActivity[];
  readonly hasMore: boolean;
  readonly search: SessionSearch;
}

/** Sessions of the traces of a window, the one with the latest trace first. Throws InvalidInput. */
export const listSessions = operation({
  name: 'listSessions',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, query: SessionQuery): Promise<SessionPage> {
    const { cursor, filters, limit } = query;
    checkedPageSize(limit, { max: MAX_SESSIONS });
    const search: SessionSearch =
      cursor === null
        ? {
            ...windowOf(query, scope.platform.clock.now().getTime()),
            filters: filters ?? NO_TRACE_FILTERS,
            after: null,
          }
        : readSessionCursor(cursor, filters);
    const startMs = query.startMs ?? search.startMs;
    const endMs = query.endMs ?? search.endMs;
    if (startMs !== search.startMs || endMs !== search.endMs)
      throw new InvalidInput('The cursor belongs to another window.');
    await scope.platform.records.readable();
    const rows = await scope.platform.stores.traces.sessions(visibilityOf(callerOf(scope)), search, limit + 1);
    return { ...pageOfRows(rows, limit), search };
  },
});

/** Number of sessions of the traces of a window. */
export const countSessions = operation({
  name: 'countSessions',
  access: traceReader,
  run: (scope: Scope<TracePlatform>, search: SessionSearch): Promise<number> =>
    scope.platform.stores.traces.countSessions(visibilityOf(callerOf(scope)), search),
});
