import type { MikroORM } from '@mikro-orm/core';
import type { AbstractSqlDriver, SqlEntityManager } from '@mikro-orm/sql';
import type { AuditRecorder } from '../audit-log/recorder.ts';
import type { InFlight } from './in-flight.ts';
import type { Stores } from '../stores.ts';
import type { WriteHealth } from './write-health.ts';

/** SQL dialect. It does not depend on the SQLite library. */
export type SqlFlavour = 'sqlite' | 'postgresql';

export type Orm = MikroORM<AbstractSqlDriver, SqlEntityManager>;

/** The open database, as stores use it. */
export interface Database {
  readonly orm: Orm;
  readonly engine: Stores['engine'];
  readonly flavour: SqlFlavour;
  /** Wraps every call of a store. */
  readonly inFlight: InFlight;
  readonly writes: WriteHealth;
  readonly audit: AuditRecorder;
}
