import type { Column } from '../database/rows.ts';
import type { ClickHouse } from './client.ts';
import type { ClickHouseTables } from './trace-tables.ts';

/** Text that says the same in many rows. */
const REPEATED = new Set(['kind', 'type', 'status', 'agent', 'service', 'model', 'team_id', 'key_hash', 'format']);

/**
 * Whole numbers that must be known are nullable here, and demanded by a constraint: without it the server would take
 * a null for a zero, and store what no other engine takes.
 */
const isDemanded = ({ runtimeType, nullable }: Column): boolean => runtimeType === 'number' && !nullable;

function typeOf(column: Column): string {
  const isText = !/^(?:big|small)?int|^bigserial/.test(column.sqlType);
  const base = isText ? 'String' : 'Int64';
  const optional = column.nullable || isDemanded(column) ? `Nullable(${base})` : base;
  return isText && REPEATED.has(column.name) ? `LowCardinality(${optional})` : optional;
}

const columnOf = (column: Column): string => `${column.name} ${typeOf(column)} codec(ZSTD(1))`;
const constraintOf = ({ name }: Column): string => `constraint ${name}_known check isNotNull(${name})`;

/** Rows arrive in days that are dropped whole when nothing of them is left; an insert is one part, so it is atomic. */
const ARRIVED = 'arrived UInt64 codec(ZSTD(1))';
const BY_DAY = 'partition by intDiv(arrived, 86400000000)';
/** Whether a trace is in a part at all: almost none is in almost all of them. */
const FIND_TRACE = 'index find_trace trace_id type bloom_filter(0.01) granularity 1';
const SMALL_GRANULES = 'settings index_granularity = 1024';

function definitions({ span, summary }: ClickHouseTables): readonly string[] {
  const own = (columns: readonly Column[]): string =>
    [...columns.map(columnOf), ...columns.filter(isDemanded).map(constraintOf)].join(', ');
  return [
    // Of spans with one id the first to arrive is kept, wherever the others came.
    `create table if not exists span (
      trace_id String codec(ZSTD(1)), trace_ref String codec(ZSTD(1)), team_id LowCardinality(String),
      key_hash LowCardinality(String), body_id String codec(ZSTD(1)), ${ARRIVED},
      earliness UInt64 default 18446744073709551615 - arrived codec(ZSTD(1)), ${own(span.columns)}, ${FIND_TRACE}
    ) engine = ReplacingMergeTree(earliness) ${BY_DAY} order by (trace_id, trace_ref, span_id) ${SMALL_GRANULES}`,
    `create table if not exists trace_summary (
      ${ARRIVED}, version UInt64, ${own(summary.columns)}, ${FIND_TRACE}
    ) engine = ReplacingMergeTree(version) ${BY_DAY} order by (trace_id, trace_ref) ${SMALL_GRANULES}`,
    // The same by time. A trace that began earlier than was known is struck out where it stood.
    `create table if not exists trace_by_start (
      ${ARRIVED}, version UInt64, deleted UInt8, newest_first Int64 materialized -start_ms, ${own(summary.columns)}
    ) engine = ReplacingMergeTree(version, deleted) ${BY_DAY} order by (newest_first, trace_ref) ${SMALL_GRANULES}`,
    `create table if not exists export_body (
      body_id String, ${ARRIVED}, version UInt64, trace_ids Array(String) codec(ZSTD(1)),
      format LowCardinality(String), compression LowCardinality(String),
      bytes String default base64Decode(base64) codec(NONE), base64 String ephemeral
    ) engine = ReplacingMergeTree(version) ${BY_DAY} order by body_id settings index_granularity = 64`,
  ];
}

/** The tables as they are named here. */
export const CLICKHOUSE_TABLES = ['span', 'trace_summary', 'trace_by_start', 'export_body'] as const;

/** Columns that an entity gained since the tables were made. What is stored has nothing in them, or nought. */
async function addColumns(server: ClickHouse, table: string, columns: readonly Column[]): Promise<void> {
  const there = await server.rows<{ name: string }>(
    'select name from system.columns where database = currentDatabase() and table = {table:String}',
    { table },
  );
  const known = new Set(there.map(({ name }) => name));
  for (const column of columns) {
    if (known.has(column.name)) continue;
    const otherwise = isDemanded(column) ? columnOf(column).replace(' codec', ' default 0 codec') : columnOf(column);
    await server.run(`alter table ${table} add column if not exists ${otherwise}`);
    if (isDemanded(column))
      await server.run(
        `alter table ${table} add ${constraintOf(column).replace('constraint', 'constraint if not exists')}`,
      );
  }
}

/**
 * Makes the database where it is missing, its tables, and the columns that this release has more. Every step may be
 * repeated, by several processes at once.
 */
export async function bringUpToDate(
  server: ClickHouse,
  { outside, database }: { readonly outside: ClickHouse; readonly database: string },
  tables: ClickHouseTables,
): Promise<void> {
  // Who may not make databases can be given one.
  const [there] = await outside.rows('select 1 from system.databases where name = {database:String}', { database });
  if (there === undefined) await outside.run('create database if not exists {database:Identifier}', { database });
  for (const definition of definitions(tables)) await server.run(definition);
  await addColumns(server, 'span', tables.span.columns);
  await addColumns(server, 'trace_summary', tables.summary.columns);
  await addColumns(server, 'trace_by_start', tables.summary.columns);
}
