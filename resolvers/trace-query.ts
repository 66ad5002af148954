import { visibilityOf } from '../src/domain/caller.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { guardedQuery } from '../src/domain/traces/query-guard.ts';
import {
  QUERY_LIMITS,
  QUERY_VIEWS,
  type QueryColumn,
  queryExceeded,
  type QueryRow,
  type QueryRows,
} from '../src/domain/traces/trace-query.ts';
import { traceReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/**
 * Runs one SELECT over the views of traces and spend, on rows that the caller may see. Throws InvalidInput, and
 * Unavailable when a limit of queries is exceeded, for example the maximum number of rows.
 */
export const readTraceQuery = operation({
  name: 'readTraceQuery',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, { sql }: { readonly sql: string }): Promise<readonly QueryRow[]> {
    const { rows, truncated } = await runQuery(scope, sql);
    if (truncated) throw queryExceeded();
    return rows;
  },
});

function runQuery(scope: Scope<TracePlatform>, sql: string): Promise<QueryRows> {
  // Only for its error: throws for a query that is not permitted.
  guardedQuery(sql);
  const caller = callerOf(scope);
  // At most one query of each user runs at a time; without a user, of each team or key.
  const owner = nullIfBlank(caller.userId) ?? nullIfBlank(caller.teamId) ?? caller.keyHash;
  const reader = { visibility: visibilityOf(caller), owner, signal: scope.signal };
  return scope.platform.stores.traceQueries.run(reader, sql);
}

/**
 * As `readTraceQuery`, but returns the first `maxRows` rows of a larger result. Throws InvalidInput for an invalid
 * `maxRows`.
 */
export const readFirstTraceQuery = operation({
  name: 'readFirstTraceQuery',
  access: traceReader,
  async run(
    scope: Scope<TracePlatform>,
    { sql, maxRows }: { readonly sql: string; readonly maxRows: number },
  ): Promise<QueryRows> {
    if (!Number.isInteger(maxRows) || maxRows < 1 || maxRows > QUERY_LIMITS.rows)
      throw new InvalidInput(`A query returns 1 to ${QUERY_LIMITS.rows} rows.`);
    const { rows, truncated } = await runQuery(scope, sql);
    return { rows: rows.slice(0, maxRows), truncated: truncated || rows.length > maxRows };
  },
});

/** What a query may contain. */
export interface QueryHelp {
  readonly dialect: string;
  readonly access: string;
  readonly response: string;
  readonly guide: string;
  readonly tables: readonly { readonly name: string; readonly columns: readonly Omit<QueryColumn, 'table'>[] }[];
  readonly examples: readonly { readonly name: string; readonly sql: string }[];
  readonly gotchas: readonly string[];
}

const EXAMPLES = [
  { name: 'Slowest traces', sql: 'select trace_id, name, duration_ms from traces order by duration_ms desc limit 20' },
  { name: 'Cost by model', sql: 'select model, count(*) as calls, sum(cost_usd) as usd from spend group by model' },
  {
    name: 'Failed tools',
    sql: "select name, count(*) as failures from spans where type = 'tool' and status = 'error' group by name",
  },
] as const;

/** Describes the views and limits of queries. */
export const readQueryHelp = operation({
  name: 'readQueryHelp',
  access: traceReader,
  async run({ platform }: Scope<TracePlatform>, _input: undefined): Promise<QueryHelp> {
    const { traceQueries } = platform.stores;
    const columns = await traceQueries.columns();
    return {
      dialect: traceQueries.dialect,
      access: 'Administrators query all rows, keys of a team those of the team, other keys their own.',
      response: `\`data\`: at most ${QUERY_LIMITS.rows} rows as objects. A query ends after ${QUERY_LIMITS.timeMs / 1_000} s. One query per user runs at a time; for keys without a user, one per team or key.`,
      guide: 'Send `{"sql": "select ..."}`: one SELECT over the tables, without comments.',
      tables: QUERY_VIEWS.map((view) => ({
        name: view,
        columns: columns.filter(({ table }) => table === view).map(({ name, type }) => ({ name, type })),
      })),
      examples: EXAMPLES,
      gotchas: [
        'Restrict queries of `spans` by `trace_id`: a query of all spans reads the blocks of all exports.',
        'In SQLite `cost_usd` is text; aggregates of it are doubles.',
        'With ClickHouse, backslashes are refused, and a query of `spend` cannot read other tables: `spend` is in another database.',
        'Inputs, outputs and attributes are not in the tables: read the span.',
      ],
    };
  },
});
