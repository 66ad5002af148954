import type { MikroORM } from '@mikro-orm/core';
import type { AbstractSqlDriver, SqlEntityManager } from '@mikro-orm/sql';
import type { Kysely } from 'kysely';
import type { AuditRecorder } from '../audit-log/recorder.ts';
import type { InFlight } from './in-flight.ts';
import type { Tables } from './tables.ts';
import type { WriteHealth } from './write-health.ts';

/** SQL dialect of the database. Both SQLite libraries have the same dialect. */
export type SqlFlavour = 'sqlite' | 'postgresql';

export type Orm = MikroORM<AbstractSqlDriver, SqlEntityManager>;

/** Ways in which stores use the database. All run the work in `InFlight`, except `reader` and `writer`. */
export interface Access {
  /** Query builder of the read connection, which does not wait for writes. */
  reader(): Kysely<Tables>;
  /** Query builder of the writing connection, outside a transaction. */
  writer(): Kysely<Tables>;
  /** Reads rows. */
  readRows<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /** Writes rows in one statement, outside a transaction. */
  writeRows<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /** Writes rows in a transaction. */
  transact<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /** Reads entities. */
  find<Result>(work: (em: SqlEntityManager) => Promise<Result>): Promise<Result>;
  /** Reads and changes entities in a transaction; the changes are flushed at its end. */
  change<Result>(work: (em: SqlEntityManager) => Result | Promise<Result>): Promise<Result>;
  /** Adds entities. Resolves to false, and adds none, when one of their unique values is stored already. */
  addIfNew(add: (em: SqlEntityManager) => unknown): Promise<boolean>;
}

/** The open database, as stores use it. */
export interface Database extends Access {
  readonly orm: Orm;
  readonly engine: 'sqlite3' | 'node:sqlite' | 'postgresql';
  readonly flavour: SqlFlavour;
  /** Runs the work of all methods of the stores. */
  readonly inFlight: InFlight;
  readonly writes: WriteHealth;
  readonly audit: AuditRecorder;
}
