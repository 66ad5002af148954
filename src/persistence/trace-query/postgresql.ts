import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Visibility } from '../../domain/caller.ts';
import { InvalidInput } from '../../domain/errors.ts';
import type { GuardedQuery } from '../../domain/traces/query-guard.ts';
import { assertNoRows } from '../../domain/traces/query-growth.ts';
import { tokensOf } from '../../domain/traces/query-tokens.ts';
import {
  limitedRows,
  QUERY_LIMITS,
  QUERY_VIEWS,
  queryExceeded,
  type QueryRow,
  type QueryRows,
} from '../../domain/traces/trace-query.ts';
import type { Database } from '../database/database.ts';
import { transaction } from '../database/transaction.ts';

const VIEWS: ReadonlySet<string> = new Set(QUERY_VIEWS);
/**
 * SQLSTATE classes of errors of the query: syntax and access, data, cardinality, and writes in a read-only transaction.
 */
const OF_QUERY = /^(?:42|22|21|25)/;

/**
 * A clause that changes no result. It keeps conditions of the query out of the common table expressions with the
 * visible rows. Otherwise the planner may evaluate these conditions on other rows first, and an error would reveal
 * values that the caller may not see.
 */
const BARRIER = sql.raw('offset 0');

/** Maximum number of bytes of all rows together. A character has at most 4 bytes. */
const MAX_BYTES = QUERY_LIMITS.characters * 4;
/** Part of names that a query cannot guess. An error message with this text means that the rows have too many bytes. */
const SECRET = randomUUID();
/**
 * Names around the query. `ROWS` is the relation of all its rows. `SIZE` is a column with the bytes of a row and of all
 * rows before it.
 */
const [ROWS, SIZE] = [`rows ${SECRET}`, `size ${SECRET}`];

function conditionOf(visibility: Visibility) {
  switch (visibility.kind) {
    case 'all':
      return sql`true`;
    case 'team':
      return sql`team_id = ${visibility.teamId}`;
    case 'key':
      return sql`coalesce(team_id, '') = '' and key_hash = ${visibility.keyHash}`;
  }
}

/** Lower-case names of the schemas of the database, and of its relations, the views included. */
const RELATIONS = sql<{ readonly name: string }>`
  select lower(relname) as name from pg_catalog.pg_class where relkind in ('r', 'v', 'm', 'f', 'p', 't', 'S')
  union select lower(nspname) from pg_catalog.pg_namespace
`;

/**
 * Runs a query in a read-only transaction, with limits of time, rows and bytes. Common table expressions with the
 * visible rows shadow the views. A query that names any other relation or a schema is refused, so that it cannot read
 * other rows.
 */
export function runOnPostgres(
  { orm }: Pick<Database, 'orm'>,
  { sql: text, names }: GuardedQuery,
  { visibility, timeMs }: { readonly visibility: Visibility; readonly timeMs: number },
): Promise<QueryRows> {
  assertNoRows(tokensOf(text));
  return transaction(orm, async (db) => {
    await sql`set transaction read only`.execute(db);
    await sql`select set_config('statement_timeout', ${String(timeMs)}, true)`.execute(db);
    const relations = await RELATIONS.execute(db);
    const foreign = relations.rows.find(({ name }) => names.has(name) && !VIEWS.has(name));
    if (foreign !== undefined) throw new InvalidInput(`Invalid trace query: ${foreign.name} is not available.`);
    const where = visibility.kind === 'all' ? sql`true` : sql`${conditionOf(visibility)} ${BARRIER}`;
    // The `with` is not recursive, so inside `spans as (…)` the name `spans` still means the view.
    // Above `MAX_BYTES` the cast of a text to boolean fails, and the error message contains `SECRET`.
    const query = sql<QueryRow>`
      with spans as (select * from spans where ${where}),
        traces as (select * from traces where ${where}),
        spend as (select * from spend where ${where})
      select * from (
        select ${sql.ref(ROWS)}.*, sum(octet_length(${sql.ref(ROWS)}::text)) over (rows unbounded preceding) as ${sql.ref(SIZE)}
        from (select * from (${sql.raw(text)}
        ) as sent limit ${QUERY_LIMITS.rows + 1}) as ${sql.ref(ROWS)}
      ) as sized
      where case when ${sql.ref(SIZE)} <= ${MAX_BYTES} then true
        else cast(concat(${SECRET}::text, ${sql.ref(SIZE)}) as boolean) end`;
    try {
      const { rows } = await query.execute(db);
      return limitedRows(rows.map(({ [SIZE]: _size, ...row }) => row));
    } catch (error) {
      throw refusalOf(error);
    }
  });
}

/**
 * Converts a failure of a query to a domain error. Errors without a code of five characters, an SQLSTATE, are not
 * changed.
 */
function refusalOf(error: unknown): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  if (!(error instanceof Error) || typeof code !== 'string' || code.length !== 5) return error;
  if (error.message.includes(SECRET)) return queryExceeded();
  return OF_QUERY.test(code)
    ? new InvalidInput(`Invalid trace query: ${error.message}`, [], { cause: error })
    : queryExceeded(error);
}
