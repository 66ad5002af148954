import type { SqliteAccess, SqliteChange, SqliteParameter, SqliteRow } from './handle.ts';

/** What a worker is started with. */
export interface WorkerStart {
  readonly file: string;
  readonly access: SqliteAccess;
}

/** One statement for the worker; `id` pairs the answer with it. */
export interface WorkerRequest {
  readonly id: number;
  readonly kind: 'all' | 'run' | 'close';
  readonly sql: string;
  readonly parameters: readonly SqliteParameter[];
}

/** The worker's answer. Errors travel as fields, because structured cloning drops their codes. */
export type WorkerAnswer =
  | { readonly id: number; readonly rows: readonly SqliteRow[] }
  | { readonly id: number; readonly change: SqliteChange }
  | { readonly id: number; readonly failure: { readonly message: string; readonly sqliteCode: number | null } };

/** The first message of a worker: the database is open. */
export const WORKER_READY = 'ready';
