import { sql } from 'kysely';
import { createSlots } from '../../domain/concurrency-limit.ts';
import { Unsupported } from '../../domain/errors.ts';
import { guardedQuery } from '../../domain/traces/query-guard.ts';
import { QUERY_LIMITS, QUERY_VIEWS, type QueryColumn, type TraceQueries } from '../../domain/traces/trace-query.ts';
import { locateDatabase } from '../database/database-url.ts';
import type { Database } from '../database/database.ts';
import type { StoresOptions } from '../stores.ts';
import { runOnPostgres } from './postgresql.ts';
import { runOnSqlite } from './sqlite.ts';

/** SQL over the views. Where ClickHouse keeps the traces, none is run. */
export function createTraceQueries(
  database: Database,
  { databaseUrl, dataDir, traces }: Pick<StoresOptions, 'databaseUrl' | 'dataDir' | 'traces'>,
  readable: () => Promise<void>,
): TraceQueries {
  const { orm, flavour, inFlight } = database;
  const slots = createSlots(QUERY_LIMITS.atOnce, 'trace queries');
  const location = locateDatabase(databaseUrl, dataDir);
  const dialect = traces ? null : flavour;

  async function columnsOf(table: QueryColumn['table']): Promise<readonly QueryColumn[]> {
    const db = orm.em.fork().getKysely({ type: 'read' });
    const query =
      flavour === 'sqlite'
        ? sql<{ name: string; type: string }>`select name, lower(type) as type from pragma_table_info(${table})`
        : sql<{ name: string; type: string }>`
            select column_name as name, data_type as type from information_schema.columns
            where table_name = ${table} and table_schema = current_schema() order by ordinal_position`;
    return (await query.execute(db)).rows.map(({ name, type }) => ({ table, name, type: type === '' ? 'text' : type }));
  }

  return {
    dialect,
    async run(visibility, sent) {
      if (dialect === null)
        throw new Unsupported('Trace SQL is not available while ClickHouse keeps the traces. Use a ClickHouse client.');
      const query = guardedQuery(sent);
      const release = slots.take();
      try {
        await readable();
        return location.kind === 'sqlite'
          ? await inFlight.run(() => runOnSqlite({ file: location.file, sql: query.sql, visibility }))
          : await inFlight.run(() => runOnPostgres(database, query, visibility));
      } finally {
        release();
      }
    },
    columns: () => inFlight.run(async () => (await Promise.all(QUERY_VIEWS.map(columnsOf))).flat()),
  };
}
