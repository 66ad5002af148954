import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SqliteAccess, SqliteHandle, SqliteParameter } from './handle.ts';
import {
  OPENING,
  type WorkerAnswer,
  type WorkerFailure,
  type WorkerRequest,
  type WorkerStart,
} from './worker-protocol.ts';

/** Names of result codes in the `sqlite3` package. */
const CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
  26: 'SQLITE_NOTADB',
};

/** An error with the code and the message of the `sqlite3` package. */
function errorFrom({ message, sqliteCode }: WorkerFailure): Error {
  // The lowest byte of an extended result code is the result code.
  const code = sqliteCode === null ? undefined : CODES[sqliteCode & 0xff];
  return code === undefined ? new Error(message) : Object.assign(new Error(`${code}: ${message}`), { code });
}

interface Waiting {
  readonly resolve: (answer: WorkerAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A connection of `node:sqlite` on a worker thread, with the same behaviour as the native addon `sqlite3`. Used when
 * the addon cannot be loaded, or the options name `node:sqlite`.
 */
export async function openWorkerHandle(file: string, access: SqliteAccess): Promise<SqliteHandle> {
  const start: WorkerStart = { file, access };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: start });
  // Not `once` of `node:events`: its promise rejects at an `error` event, and an unhandled rejection ends the process.
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve());
  });
  const [opened] = (await once(worker, 'message')) as WorkerAnswer[];
  if (opened && 'failure' in opened) throw errorFrom(opened.failure);

  const waiting = new Map<number, Waiting>();
  let lastId = OPENING;
  let lost: Error | null = null;
  function failAll(error: Error): void {
    lost ??= error;
    for (const { reject } of waiting.values()) reject(lost);
    waiting.clear();
  }
  worker.on('error', failAll);
  worker.on('exit', () => failAll(new Error('The SQLite worker has ended.')));
  worker.on('message', (answer: WorkerAnswer) => {
    const caller = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (!caller) return;
    if ('failure' in answer) caller.reject(errorFrom(answer.failure));
    else caller.resolve(answer);
  });

  function ask(
    kind: WorkerRequest['kind'],
    sql: string,
    parameters: readonly SqliteParameter[],
  ): Promise<WorkerAnswer> {
    if (lost) return Promise.reject(lost);
    return new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a rule for windows; this is a thread.
      worker.postMessage({ id: lastId, kind, sql, parameters } satisfies WorkerRequest);
    });
  }

  return {
    async all(sql, parameters) {
      const answer = await ask('all', sql, parameters);
      return 'rows' in answer ? answer.rows : [];
    },
    async run(sql, parameters) {
      const answer = await ask('run', sql, parameters);
      return 'change' in answer ? answer.change : { changes: 0, lastRowId: 0 };
    },
    async script(sql) {
      await ask('script', sql, []);
    },
    async close() {
      if (lost) return;
      await ask('close', '', []);
      await exited;
    },
  };
}
