import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Visibility } from '../../domain/caller.ts';
import { InvalidInput, Unavailable } from '../../domain/errors.ts';
import { QUERY_LIMITS } from '../../domain/traces/trace-query.ts';

/** What the process of a query gets, and what it answers. */
export interface QueryRequest {
  readonly file: string;
  readonly sql: string;
  readonly visibility: Visibility;
}
export type QueryAnswer =
  | { readonly kind: 'rows'; readonly rows: readonly Readonly<Record<string, unknown>>[] }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'exceeded' };

/** Time for the start of the process, in ms, beside that of the query. */
const START_MS = 5_000;
const MEMORY_MB = 128;

export const exceeded = (cause?: unknown): Unavailable =>
  new Unavailable('Trace SQL query failed or exceeded reader limits', null, { cause });

/** Runs a query in a process of its own, which is killed at the deadline. It gets no environment. */
export async function runOnSqlite(request: QueryRequest): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const child = fork(fileURLToPath(new URL('./sqlite-process.ts', import.meta.url)), [], {
    execArgv: [`--max-old-space-size=${MEMORY_MB}`, '--no-warnings'],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    timeout: START_MS + QUERY_LIMITS.timeMs,
    killSignal: 'SIGKILL',
  });
  const ended = new AbortController();
  child.once('exit', () => ended.abort());
  child.once('error', () => ended.abort());
  try {
    const answered = once(child, 'message', { signal: ended.signal });
    child.send(request);
    const [answer] = (await answered) as [QueryAnswer];
    if (answer.kind === 'rows') return answer.rows;
    if (answer.kind === 'exceeded') throw exceeded();
    throw new InvalidInput(`Invalid trace query: ${answer.message}`);
  } catch (error) {
    throw ended.signal.aborted ? exceeded(error) : error;
  } finally {
    child.kill('SIGKILL');
  }
}
