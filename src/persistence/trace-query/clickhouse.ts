import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { Visibility } from '../../domain/caller.ts';
import { DomainError, InvalidInput, Unavailable } from '../../domain/errors.ts';
import type { GuardedQuery } from '../../domain/traces/query-guard.ts';
import {
  limitedRows,
  QUERY_LIMITS,
  QUERY_VIEWS,
  type QueryColumn,
  queryExceeded,
  type QueryRow,
  type QueryRows,
} from '../../domain/traces/trace-query.ts';
import { type ClickHouseLocation, clickHouseHttpUrl } from '../clickhouse/client.ts';
import { isServerFailure, isServerError } from '../clickhouse/faults.ts';
import { VIEW_QUERIES } from '../clickhouse/views.ts';

const MS_PER_SECOND = 1_000;
/** Time for the connection, in ms, in addition to the time of the query. */
const CONNECT_MS = 5_000;
/** Maximum memory of one query, in bytes. */
const MEMORY_BYTES = 512 * 1024 * 1024;
/** Error codes of a server that refuses a setting of the query. */
const REFUSED_SETTINGS = new Set(['164', '452']);
/** Error code of a result with more rows or bytes than the limits. */
const RESULT_TOO_LARGE = '396';

/** Limits of one query, and standard SQL semantics of outer joins, `union`, and aggregates without rows. */
const SETTINGS: ClickHouseSettings = {
  readonly: '1',
  max_result_rows: String(QUERY_LIMITS.rows + 1),
  // A character has at most 4 bytes.
  max_result_bytes: String(QUERY_LIMITS.characters * 4),
  max_memory_usage: String(MEMORY_BYTES),
  max_threads: 2,
  wait_end_of_query: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  join_use_nulls: 1,
  union_default_mode: 'DISTINCT',
  aggregate_functions_null_for_empty: 1,
  // 64-bit integers and decimals arrive as text, without loss of digits; see `valueOf`.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
};

/**
 * A limit that no result reaches. It keeps conditions of the query out of the common table expressions with the visible
 * rows. Otherwise the server may evaluate these conditions on other rows first, and an error would reveal values that
 * the caller may not see.
 */
const BARRIER = 'limit 9223372036854775807';

function conditionOf(visibility: Visibility): string {
  switch (visibility.kind) {
    case 'all':
      return '';
    case 'team':
      return `where team_id = {team:String} ${BARRIER}`;
    case 'key':
      return `where ifNull(team_id, '') = '' and key_hash = {key:String} ${BARRIER}`;
  }
}

function paramsOf(visibility: Visibility): Readonly<Record<string, string>> {
  switch (visibility.kind) {
    case 'all':
      return {};
    case 'team':
      return { team: visibility.teamId };
    case 'key':
      return { key: visibility.keyHash };
  }
}

interface Answer {
  readonly meta: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly (readonly unknown[])[];
}

/** Runs work with a new client, which is closed afterwards. The signal cancels its queries. */
async function withClient<Result>(
  location: ClickHouseLocation,
  { signal, timeMs }: { readonly signal: AbortSignal | null; readonly timeMs: number },
  work: (ask: (query: string, params?: Readonly<Record<string, string>>) => Promise<Answer>) => Promise<Result>,
): Promise<Result> {
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  const client: ClickHouseClient = createClient({
    url: clickHouseHttpUrl(location.readerUrl ?? location.url),
    database: location.database,
    application: 'lensgate',
    request_timeout: timeMs + CONNECT_MS,
    clickhouse_settings: { ...SETTINGS, max_execution_time: timeMs / MS_PER_SECOND },
    // The library would log statements with values.
    log: { level: ClickHouseLogLevel.OFF },
  });
  try {
    return await work(async (query, params = {}) => {
      const cancellation = signal === null ? {} : { abort_signal: signal };
      const answer = await client.query({ query, query_params: { ...params }, format: 'JSONCompact', ...cancellation });
      return answer.json() as unknown as Promise<Answer>;
    });
  } finally {
    await client.close();
  }
}

/** Lower-case names of all databases, and of the tables of this database except the two views. */
const RELATIONS = `
  select lower(name) from system.tables where database = currentDatabase() and name not in ('spans', 'traces')
  union distinct select lower(name) from system.databases`;

/**
 * Runs a query read-only, with limits of time, memory and rows. Common table expressions with the visible rows shadow
 * the views; a query that names any other table or a database is refused.
 */
export async function runOnClickHouse(
  location: ClickHouseLocation,
  { sql, names }: GuardedQuery,
  {
    visibility,
    signal,
    timeMs,
  }: { readonly visibility: Visibility; readonly signal: AbortSignal; readonly timeMs: number },
): Promise<QueryRows> {
  // In ClickHouse a backslash is an escape, so a literal could end at another place than the guard assumes.
  if (sql.includes('\\')) throw new InvalidInput('Invalid trace query: backslashes are not supported.');
  if (names.has('settings')) throw new InvalidInput('Invalid trace query: settings is not available.');
  const where = conditionOf(visibility);
  const views = Object.entries(VIEW_QUERIES).map(([name, body]) => `${name} as (select * from (${body}) ${where})`);
  const query = `with ${views.join(', ')} select * from (${sql}\n) as query limit ${QUERY_LIMITS.rows + 1}`;
  try {
    return await withClient(location, { signal, timeMs }, async (ask) => {
      const relations = (await ask(RELATIONS)).data.map(([name]) => String(name));
      const foreign = relations.find((name) => names.has(name) && !isView(name));
      if (foreign !== undefined) throw new InvalidInput(`Invalid trace query: ${foreign} is not available.`);
      return limitedRows(rowsOf(await ask(query, paramsOf(visibility))));
    });
  } catch (error) {
    throw refusalOf(error);
  }
}

const isView = (name: string): boolean => QUERY_VIEWS.some((view) => view === name);

function rowsOf({ meta, data }: Answer): readonly QueryRow[] {
  return data.map((values) =>
    Object.fromEntries(meta.map(({ name, type }, at) => [name, valueOf(values[at] ?? null, type)])),
  );
}

/** 64-bit integers arrive as text. Those that a double represents exactly become numbers. */
function valueOf(value: unknown, type: string): unknown {
  const is64BitInteger = typeof value === 'string' && /^(?:Nullable\()?U?Int64\)?$/.test(type);
  return is64BitInteger && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** Converts a failure of a query to a domain error. */
function refusalOf(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  if (!isServerError(error)) return queryExceeded(error);
  if (REFUSED_SETTINGS.has(error.code))
    return new Unavailable('The trace store does not accept the limits of a query.', null, { cause: error });
  if (isServerFailure(error) || error.code === RESULT_TOO_LARGE) return queryExceeded(error);
  return new InvalidInput(`Invalid trace query: ${messageOf(error)}`, [], { cause: error });
}

/** The message of the server without the statement around the query: at most 300 characters of the first line. */
const messageOf = ({ message }: Error): string =>
  message
    .replace(/^(?:Code: \d+\. )?(?:DB::\w+: )?/, '')
    .replace(/(?:\.? (?:In scope|While processing|In query|Maybe you meant)|: While |\(version |\n).*$/s, '')
    .slice(0, 300);

/** The columns of the views in ClickHouse. */
export async function clickHouseColumns(location: ClickHouseLocation): Promise<readonly QueryColumn[]> {
  try {
    return await withClient(location, { signal: null, timeMs: QUERY_LIMITS.timeMs }, async (ask) => {
      const columns: QueryColumn[] = [];
      for (const table of ['spans', 'traces'] as const)
        for (const [name, type] of (await ask(`describe table (${VIEW_QUERIES[table]})`)).data)
          columns.push({ table, name: String(name), type: String(type) });
      return columns;
    });
  } catch (error) {
    throw new Unavailable('Trace query help is temporarily unavailable', null, { cause: error });
  }
}
