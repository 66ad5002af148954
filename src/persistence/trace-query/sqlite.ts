import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Visibility } from '../../domain/caller.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { queryExceeded, type QueryRows } from '../../domain/traces/trace-query.ts';

/** Request to the process that runs a query. */
export interface QueryRequest {
  readonly file: string;
  readonly sql: string;
  readonly visibility: Visibility;
}
export type QueryAnswer =
  | (QueryRows & { readonly kind: 'rows' })
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'exceeded' };

/** Maximum size of the old generation of the process's heap, in MiB. */
const MEMORY_MIB = 128;

/** Runs a query in a new process without environment variables. The deadline or the signal kills the process. */
export async function runOnSqlite(
  request: QueryRequest,
  { signal, timeMs }: { readonly signal: AbortSignal; readonly timeMs: number },
): Promise<QueryRows> {
  const { fork } = await import('node:child_process');
  const child = fork(fileURLToPath(new URL('./sqlite-process.ts', import.meta.url)), [], {
    execArgv: [`--max-old-space-size=${MEMORY_MIB}`, '--no-warnings'],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    timeout: timeMs,
    signal,
    killSignal: 'SIGKILL',
  });
  const ended = new AbortController();
  child.once('exit', () => ended.abort());
  child.once('error', () => ended.abort());
  try {
    const answered = once(child, 'message', { signal: ended.signal });
    child.send(request);
    const [answer] = (await answered) as [QueryAnswer];
    if (answer.kind === 'rows') return { rows: answer.rows, truncated: answer.truncated };
    if (answer.kind === 'exceeded') throw queryExceeded();
    throw new InvalidInput(`Invalid trace query: ${answer.message}`);
  } catch (error) {
    throw ended.signal.aborted ? queryExceeded(error) : error;
  } finally {
    child.kill('SIGKILL');
  }
}
