import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { QUERY_LIMITS, type QueryRow } from '../../domain/traces/trace-query.ts';
import type { QueryAnswer, QueryRequest } from './sqlite.ts';
import { restrict } from './sqlite-rules.ts';

// Body of a process that runs one query and exits. The parent kills the process of a query that runs too long, which
// would not be possible with a thread.

/** Maximum memory of SQLite in this process, in bytes. */
const HEAP_BYTES = 128 * 1024 * 1024;
/** How long the query waits for a lock, in ms. */
const LOCK_TIMEOUT_MS = 2_000;

/** A value of a row: integers that a double cannot represent exactly become text, bytes become hexadecimal text. */
const answerValue = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
};

function runQuery({ file, sql, visibility }: QueryRequest): QueryAnswer {
  const secret = randomBytes(16).toString('hex');
  const database = new DatabaseSync(file, { readOnly: true, timeout: LOCK_TIMEOUT_MS });
  try {
    database.exec(`pragma hard_heap_limit = ${HEAP_BYTES}; pragma temp_store = memory`);
    restrict(database, visibility, secret);
    const statement = database.prepare(`select * from (${sql}\n) limit ${QUERY_LIMITS.rows + 1}`);
    statement.setReadBigInts(true);
    const rows: QueryRow[] = [];
    let characters = 0;
    for (const row of statement.iterate()) {
      if (rows.length === QUERY_LIMITS.rows) return { kind: 'rows', rows, truncated: true };
      const values = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, answerValue(value)]));
      characters += JSON.stringify(values).length;
      rows.push(values);
      if (characters > QUERY_LIMITS.characters) return { kind: 'exceeded' };
    }
    return { kind: 'rows', rows, truncated: false };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The message of SQLite names the first column of a forbidden table, so it is replaced.
    const isForbidden = message.includes('prohibited');
    return { kind: 'refused', message: isForbidden ? 'not authorized' : message.replaceAll(`_${secret}`, '') };
  }
}

process.once('message', (request: QueryRequest) => {
  process.send?.(runQuery(request), () => process.disconnect?.());
});
