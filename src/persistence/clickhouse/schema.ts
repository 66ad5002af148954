import type { Column } from '../database/rows.ts';
import type { ClickHouse } from './client.ts';
import type { ClickHouseTables } from './trace-tables.ts';

/** Columns with few distinct texts. */
const FEW_VALUES = new Set(['kind', 'type', 'status', 'agent', 'service', 'model', 'team_id', 'key_hash', 'format']);

/**
 * Required numbers are nullable columns with a check constraint. In a column that is not nullable, the server would
 * store null as 0, which no other engine does.
 */
const isRequiredNumber = ({ runtimeType, nullable }: Column): boolean => runtimeType === 'number' && !nullable;

function typeOf(column: Column): string {
  const isText = !/^(?:big|small)?int|^bigserial/.test(column.sqlType);
  const base = isText ? 'String' : 'Int64';
  const optional = column.nullable || isRequiredNumber(column) ? `Nullable(${base})` : base;
  return isText && FEW_VALUES.has(column.name) ? `LowCardinality(${optional})` : optional;
}

const columnOf = (column: Column): string => `${column.name} ${typeOf(column)} codec(ZSTD(1))`;
const constraintOf = ({ name }: Column): string => `constraint ${name}_known check isNotNull(${name})`;

/**
 * Arrival time, Unix microseconds. All rows of an insert have the same arrival time, so the insert writes one part and
 * is atomic.
 */
const ARRIVED = 'arrived UInt64 codec(ZSTD(1))';
const DAY_MICROSECONDS = 86_400_000_000;
/** Partitions by day of arrival, dropped when they are empty. */
const BY_DAY = `partition by intDiv(arrived, ${DAY_MICROSECONDS})`;
/** Skips parts without the trace, which are nearly all. */
const FIND_TRACE = 'index find_trace trace_id type bloom_filter(0.01) granularity 1';
const SMALL_GRANULES = 'settings index_granularity = 1024';

function definitions({ span, summary }: ClickHouseTables): readonly string[] {
  const definitionsOf = (columns: readonly Column[]): string =>
    [...columns.map(columnOf), ...columns.filter(isRequiredNumber).map(constraintOf)].join(', ');
  return [
    // Of the rows with the same span id, in any partition, `final` returns the row with the greatest `earliness`: the
    // row that arrived first.
    `create table if not exists span (
      trace_id String codec(ZSTD(1)), trace_ref String codec(ZSTD(1)), team_id LowCardinality(String),
      key_hash LowCardinality(String), body_id String codec(ZSTD(1)), ${ARRIVED},
      earliness UInt64 default 18446744073709551615 - arrived codec(ZSTD(1)), ${definitionsOf(span.columns)}, ${FIND_TRACE}
    ) engine = ReplacingMergeTree(earliness) ${BY_DAY} order by (trace_id, trace_ref, span_id) ${SMALL_GRANULES}`,
    `create table if not exists trace_summary (
      ${ARRIVED}, version UInt64, ${definitionsOf(summary.columns)}, ${FIND_TRACE}
    ) engine = ReplacingMergeTree(version) ${BY_DAY} order by (trace_id, trace_ref) ${SMALL_GRANULES}`,
    // The summaries again, sorted by start. When an earlier span moves the start of a trace, the row with the old start
    // is deleted.
    `create table if not exists trace_by_start (
      ${ARRIVED}, version UInt64, deleted UInt8, newest_first Int64 materialized -start_ms, ${definitionsOf(summary.columns)}
    ) engine = ReplacingMergeTree(version, deleted) ${BY_DAY} order by (newest_first, trace_ref) ${SMALL_GRANULES}`,
    `create table if not exists export_body (
      body_id String, ${ARRIVED}, version UInt64, trace_ids Array(String) codec(ZSTD(1)),
      format LowCardinality(String), compression LowCardinality(String),
      bytes String default base64Decode(base64) codec(NONE), base64 String ephemeral
    ) engine = ReplacingMergeTree(version) ${BY_DAY} order by body_id settings index_granularity = 64`,
    // The traces of redactions that have not ended.
    'create table if not exists redaction (trace_id String, trace_ref String, at_ms Int64) engine = MergeTree order by trace_ref',
  ];
}

/** The tables with partitions by day. */
export const CLICKHOUSE_TABLES = ['span', 'trace_summary', 'trace_by_start', 'export_body'] as const;

/** Adds columns that an entity has gained. Stored rows get null, 0 or an empty text in these columns. */
async function addColumns(server: ClickHouse, table: string, columns: readonly Column[]): Promise<void> {
  const existing = await server.rows<{ name: string }>(
    'select name from system.columns where database = currentDatabase() and table = {table:String}',
    { table },
  );
  const known = new Set(existing.map(({ name }) => name));
  for (const column of columns) {
    if (known.has(column.name)) continue;
    const definition = isRequiredNumber(column)
      ? columnOf(column).replace(' codec', ' default 0 codec')
      : columnOf(column);
    await server.run(`alter table ${table} add column if not exists ${definition}`);
    if (isRequiredNumber(column))
      await server.run(
        `alter table ${table} add ${constraintOf(column).replace('constraint', 'constraint if not exists')}`,
      );
  }
}

/**
 * Creates the database, its tables and the new columns of this release. Idempotent, also with several processes at the
 * same time. `outside` is a connection to another database of the server, because `database` possibly does not exist
 * yet.
 */
export async function updateSchema(
  server: ClickHouse,
  { outside, database }: { readonly outside: ClickHouse; readonly database: string },
  tables: ClickHouseTables,
): Promise<void> {
  // A user without the right to create databases can use an existing one.
  const [existing] = await outside.rows('select 1 from system.databases where name = {database:String}', { database });
  if (existing === undefined) await outside.run('create database if not exists {database:Identifier}', { database });
  for (const definition of definitions(tables)) await server.run(definition);
  await addColumns(server, 'span', tables.span.columns);
  await addColumns(server, 'trace_summary', tables.summary.columns);
  await addColumns(server, 'trace_by_start', tables.summary.columns);
}
