import type { BodyReader } from '../domain/traces/packed.ts';
import type { ClickHouseLocation } from './clickhouse/client.ts';

/** Limits of the spans that wait for their commit: rows, and bytes of encoded text and bodies. */
export interface IngestLimit {
  readonly rows: number;
  readonly bytes: number;
}

export interface StoresOptions {
  /** `sqlite:`, `file:`, `postgres:` or `postgresql:`; null is a SQLite file in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** The ClickHouse server that stores the traces; null or absent: the database stores them. */
  readonly traces?: ClickHouseLocation | null;
  readonly log: { warn(facts: object, event: string): void };
  /** Opens the bodies of exports and of logged calls. Absent: work that has to open a body throws. */
  readonly bodies?: BodyReader;
  /** Which library runs SQLite; null or absent: `sqlite3` where it is installed, else `node:sqlite`. */
  readonly sqliteDriver?: 'sqlite3' | 'node:sqlite' | null;
  /**
   * True: no other store writes calls to the SQLite file, so their reads need no query for segments of others. Absent:
   * false. No effect on PostgreSQL.
   */
  readonly isExclusive?: boolean;
  readonly ingestLimit?: IngestLimit;
  /** False: the rows of calls are written immediately, without the call log (`call-log/README.md`). Absent: true. */
  readonly callLog?: boolean;
  /** False: new spans are stored as rows, not in span blocks (`span-blocks/README.md`). Absent: true. */
  readonly spanBlocks?: boolean;
  /**
   * Number of spans from which a trace has notes on its calls (`call-notes/README.md`). Null: none has. Absent: 200.
   */
  readonly notesFrom?: number | null;
  /**
   * False: SQLite returns wide rows by column, not as one JSON list per row (`packed-rows/README.md`). Absent: true.
   */
  readonly packedRows?: boolean;
  /** How long a write waits for a lock that another connection holds, in ms; absent: 5,000. */
  readonly lockTimeoutMs?: number;
  /** Deadline of a query in SQL over traces, in ms; absent: 10,000. */
  readonly traceQueryMs?: number;
}
