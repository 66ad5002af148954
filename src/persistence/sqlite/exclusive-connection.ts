import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { SqliteHandle, SqliteParameter } from './handle.ts';

const ROW_STATEMENT = /^\s*(?:select|pragma|explain|with|values)\b/i;
const RETURNING = /\breturning\b/i;
const TEXT_LITERALS = /'(?:[^']|'')*'/g;

/** Ignores the word `returning` in text literals: MikroORM writes values into the SQL text. */
function returnsRows({ query, sql }: CompiledQuery): boolean {
  if (query.kind === 'SelectQueryNode' || ROW_STATEMENT.test(sql)) return true;
  if (query.kind !== 'RawNode') return 'returning' in query && query.returning !== undefined;
  return RETURNING.test(sql) && RETURNING.test(sql.replaceAll(TEXT_LITERALS, ''));
}

function parameterOf(value: unknown): SqliteParameter {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Uint8Array) return value;
  // Columns of times hold Unix ms, as the ORM writes them.
  if (value instanceof Date) return value.getTime();
  throw new TypeError('SQLite takes text, numbers, times, bytes and null as parameters.');
}

async function perform<Row>(handle: SqliteHandle, compiled: CompiledQuery): Promise<QueryResult<Row>> {
  const parameters = compiled.parameters.map(parameterOf);
  if (returnsRows(compiled)) return { rows: [...(await handle.all(compiled.sql, parameters))] as Row[] };
  const { changes, lastRowId } = await handle.run(compiled.sql, parameters);
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastRowId) };
}

const isViolatedConstraint = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT';

/**
 * The connection while one statement or one transaction uses it alone. Kysely runs `commit` and `rollback` beside its
 * own queue of a transaction's statements, and releases a connection that may still have statements queued. A statement
 * after the end of its transaction would run outside a transaction, or inside that of the next user. It is refused.
 */
export interface ExclusiveConnection extends DatabaseConnection {
  /** Runs `begin`, a savepoint command and the like. */
  command(sql: string): Promise<void>;
  /** Runs `commit` or `rollback` after the statement in flight. Later statements are refused. */
  end(sql: 'commit' | 'rollback'): Promise<void>;
  /** Refuses later statements and waits for the one in flight. Returns false when the connection may be unclean. */
  close(): boolean | Promise<boolean>;
}

export function createExclusiveConnection(handle: SqliteHandle): ExclusiveConnection {
  let ended = false;
  let inTransaction = false;
  let isDoubtful = false;
  let inFlight: Promise<unknown> | null = null;

  function noteFailure(error: unknown): void {
    // A violated constraint leaves the connection in a known state.
    if (!isViolatedConstraint(error)) isDoubtful = true;
  }
  async function run(sql: string): Promise<void> {
    try {
      await handle.run(sql, []);
    } catch (error) {
      noteFailure(error);
      throw error;
    }
  }
  const settled = async (): Promise<void> => {
    await inFlight?.catch(() => {});
  };

  return {
    async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
      if (ended) throw new Error('The transaction of this statement has ended.');
      const running = perform<Row>(handle, compiled);
      inFlight = running;
      try {
        return await running;
      } catch (error) {
        noteFailure(error);
        throw error;
      } finally {
        if (inFlight === running) inFlight = null;
      }
    },
    streamQuery() {
      throw new Error('This dialect does not stream: stores read bounded pages.');
    },
    async command(sql) {
      await run(sql);
      if (sql.startsWith('begin')) inTransaction = true;
    },
    async end(sql) {
      ended = true;
      await settled();
      await run(sql);
      inTransaction = false;
    },
    close() {
      ended = true;
      const isClean = (): boolean => !isDoubtful && !inTransaction;
      // The usual case, without a turn of the event loop.
      return inFlight === null ? isClean() : settled().then(isClean);
    },
  };
}

/**
 * Ends any transaction of a connection. Throws when a transaction may still be open: `commit` fails while a statement
 * that writes is active.
 */
export async function settleConnection(handle: SqliteHandle): Promise<void> {
  // The rollback fails when no transaction is open, which is the usual case.
  await handle.run('rollback', []).catch(() => {});
  await handle.run('begin', []);
  await handle.run('commit', []);
}
