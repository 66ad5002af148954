import type { SqliteAccess, SqliteChange, SqliteParameter, SqliteRow } from './handle.ts';

/** Worker data at the start of the thread. */
export interface WorkerStart {
  readonly file: string;
  readonly access: SqliteAccess;
}

/** One request to the worker. Its answer has the same `id`. */
export interface WorkerRequest {
  readonly id: number;
  readonly kind: 'all' | 'run' | 'script' | 'close';
  readonly sql: string;
  readonly parameters: readonly SqliteParameter[];
}

/** The worker's answer. Errors are sent as fields, because structured cloning drops their codes. */
export type WorkerAnswer =
  | { readonly id: number; readonly rows: readonly SqliteRow[] }
  | { readonly id: number; readonly change: SqliteChange }
  | { readonly id: number; readonly failure: WorkerFailure };

export interface WorkerFailure {
  readonly message: string;
  readonly sqliteCode: number | null;
}

/** The id of a worker's first answer: the database is open, or could not be opened. */
export const OPENING = 0;
