import { visibilityOf } from '../src/domain/caller.ts';
import { guardedQuery } from '../src/domain/traces/query-guard.ts';
import { QUERY_LIMITS, QUERY_VIEWS, type QueryColumn } from '../src/domain/traces/trace-query.ts';
import { traceReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

export type QueryRow = Readonly<Record<string, unknown>>;

/** Runs one SELECT over the views of traces and spend, on rows that the caller may see. Throws InvalidInput and Unavailable. */
export const queryTraces = operation({
  name: 'readTraceQuery',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, { sql }: { readonly sql: string }): Promise<readonly QueryRow[]> {
    guardedQuery(sql);
    return scope.platform.stores.traceQueries.run(visibilityOf(callerOf(scope)), sql);
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
      dialect: traceQueries.dialect ?? 'none',
      access: 'Administrators query all rows, keys of a team those of the team, other keys their own.',
      response: `\`data\`: at most ${QUERY_LIMITS.rows} rows as objects. A query ends after ${QUERY_LIMITS.timeMs / 1_000} s.`,
      guide: 'Send `{"sql": "select ..."}`: one SELECT over the tables, without comments.',
      tables: QUERY_VIEWS.map((view) => ({
        name: view,
        columns: columns.filter(({ table }) => table === view).map(({ name, type }) => ({ name, type })),
      })),
      examples: EXAMPLES,
      gotchas: [
        'Restrict queries of `spans` by `trace_id`: a query of all spans reads the blocks of all exports.',
        'In SQLite `cost_usd` is text; aggregates of it are doubles.',
        'Inputs, outputs and attributes are not in the tables: read the span.',
      ],
    };
  },
});
