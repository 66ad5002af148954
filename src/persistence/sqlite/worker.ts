import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { createStatementCache, isCacheable } from './statement-cache.ts';
import { OPENING, type WorkerAnswer, type WorkerRequest, type WorkerStart } from './worker-protocol.ts';

// One connection of `node:sqlite`, which is synchronous, on a separate thread.

if (parentPort === null) throw new Error('This module is the body of a worker thread.');
const port = parentPort;
const { file, access } = workerData as WorkerStart;

function open(): DatabaseSync | null {
  try {
    return new DatabaseSync(file, { readOnly: access === 'readonly' });
  } catch (error) {
    port.postMessage(failureOf(OPENING, error));
    return null;
  }
}

/** Garbage collection finalizes evicted statements. */
const statements = createStatementCache<StatementSync>(() => {});

function statementOf(database: DatabaseSync, { sql, parameters }: WorkerRequest): StatementSync {
  if (!isCacheable(sql, parameters)) return database.prepare(sql);
  const known = statements.find(sql);
  if (known !== undefined) return known;
  const statement = database.prepare(sql);
  statements.add(sql, statement);
  return statement;
}

function perform(database: DatabaseSync, request: WorkerRequest): WorkerAnswer {
  const { id, kind, parameters } = request;
  if (kind === 'close') {
    database.close();
    return { id, rows: [] };
  }
  if (kind === 'script') {
    database.exec(request.sql);
    return { id, rows: [] };
  }
  const statement = statementOf(database, request);
  if (kind === 'all') return { id, rows: statement.all(...parameters) };
  const { changes, lastInsertRowid } = statement.run(...parameters);
  return { id, change: { changes: Number(changes), lastRowId: Number(lastInsertRowid) } };
}

function failureOf(id: number, error: unknown): WorkerAnswer {
  const message = error instanceof Error ? error.message : String(error);
  const known = typeof error === 'object' && error !== null && 'errcode' in error ? error.errcode : null;
  return { id, failure: { message, sqliteCode: typeof known === 'number' ? known : null } };
}

const database = open();
if (database) {
  port.on('message', (request: WorkerRequest) => {
    try {
      port.postMessage(perform(database, request));
    } catch (error) {
      port.postMessage(failureOf(request.id, error));
    }
    if (request.kind === 'close') port.close();
  });
  port.postMessage({ id: OPENING, rows: [] } satisfies WorkerAnswer);
}
