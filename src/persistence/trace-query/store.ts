import { sql } from 'kysely';
import type { Visibility } from '../../domain/caller.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { type GuardedQuery, guardedQuery } from '../../domain/traces/query-guard.ts';
import {
  QUERY_LIMITS,
  QUERY_VIEWS,
  type QueryColumn,
  type QueryRows,
  type TraceQueries,
} from '../../domain/traces/trace-query.ts';
import { locateDatabase } from '../database/database-url.ts';
import type { Database } from '../database/database.ts';
import type { StoresOptions } from '../options.ts';
import { clickHouseColumns, runOnClickHouse } from './clickhouse.ts';
import { createQueryTurns } from './query-turns.ts';
import { runOnPostgres } from './postgresql.ts';
import { runOnSqlite } from './sqlite.ts';

/**
 * SQL over the views `spans`, `traces` and `spend`. When ClickHouse stores the traces, only queries that name `spend`
 * run in the database. `readable` resolves when the call log is unfolded.
 */
export function createTraceQueries(
  database: Database,
  {
    databaseUrl,
    dataDir,
    traces,
    traceQueryMs: timeMs = QUERY_LIMITS.timeMs,
  }: Pick<StoresOptions, 'databaseUrl' | 'dataDir' | 'traces' | 'traceQueryMs'>,
  readable: () => Promise<void>,
): TraceQueries {
  const { flavour, inFlight, reader } = database;
  const turns = createQueryTurns();
  const location = locateDatabase(databaseUrl, dataDir);
  const dialect = traces ? 'clickhouse' : flavour;

  async function columnsOf(table: QueryColumn['table']): Promise<readonly QueryColumn[]> {
    const query =
      flavour === 'sqlite'
        ? sql<{ name: string; type: string }>`select name, lower(type) as type from pragma_table_info(${table})`
        : sql<{ name: string; type: string }>`
            select column_name as name, data_type as type from information_schema.columns
            where table_name = ${table} and table_schema = current_schema() order by ordinal_position`;
    return (await query.execute(reader())).rows.map(({ name, type }) => ({
      table,
      name,
      type: type === '' ? 'text' : type,
    }));
  }

  function runOnEngine(
    query: GuardedQuery,
    { visibility, signal }: { readonly visibility: Visibility; readonly signal: AbortSignal },
  ): Promise<QueryRows> {
    if (traces) {
      if (!query.names.has('spend')) return runOnClickHouse(traces, query, { visibility, signal, timeMs });
      if (query.names.has('spans') || query.names.has('traces'))
        throw new InvalidInput('Invalid trace query: spend is in another database than spans and traces.');
    }
    return location.kind === 'sqlite'
      ? runOnSqlite({ file: location.file, sql: query.sql, visibility }, { signal, timeMs })
      : runOnPostgres(database, query, { visibility, timeMs });
  }

  async function allColumns(): Promise<readonly QueryColumn[]> {
    if (!traces) return (await Promise.all(QUERY_VIEWS.map(columnsOf))).flat();
    return [...(await clickHouseColumns(traces)), ...(await columnsOf('spend'))];
  }

  return {
    dialect,
    async run({ visibility, owner, signal }, sent) {
      const query = guardedQuery(sent);
      return await turns.run(owner, signal, async () => {
        await readable();
        return await inFlight.run(() => runOnEngine(query, { visibility, signal }));
      });
    },
    columns: () => inFlight.run(allColumns),
  };
}
