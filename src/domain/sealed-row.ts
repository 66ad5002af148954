import type { JsonObject } from './json-object.ts';
import type { RowStore, Stamps } from './row-store.ts';

/** A stored row whose secret part is encrypted. The database has only the ciphertext of that part. */
export interface SealedRow extends Stamps {
  readonly id: string;
  /** Base64. */
  readonly sealed: string;
}

/** A deployment as the database has it. */
export interface SealedDeployment extends SealedRow {
  readonly modelGroup: string;
  readonly info: JsonObject;
  readonly blocked: boolean;
}

/** A credential as the database has it. */
export interface SealedCredential extends SealedRow {
  readonly displayName: string | null;
  readonly info: JsonObject;
}

/** Filter of sealed rows: null lists all. */
interface SealedFilter {
  readonly ids: readonly string[] | null;
}

/** Rows with an encrypted part, and a version text that differs after every change of any of them. */
export interface SealedStore<Row extends SealedRow> extends RowStore<Row, SealedFilter> {
  fingerprint(): Promise<string>;
}
