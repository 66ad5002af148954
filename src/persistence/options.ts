import type { BodyReader } from '../domain/traces/packed.ts';
import type { ClickHouseLocation } from './clickhouse/client.ts';

/** Most spans that may wait for their commit, in rows and in bytes of encoded text. */
export interface IngestLimit {
  readonly rows: number;
  readonly bytes: number;
}

export interface StoresOptions {
  /** `sqlite:`, `file:`, `postgres:` or `postgresql:`; null is a SQLite file in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** The ClickHouse server that keeps the traces; null or absent: the database does. */
  readonly traces?: ClickHouseLocation | null;
  readonly log: { warn(facts: object, event: string): void };
  /** Opens the bodies of spans; needed only to read or remove spans of exports. */
  readonly bodies?: BodyReader;
  /** Which library runs SQLite; null or absent: `sqlite3` where it is installed, else `node:sqlite`. */
  readonly sqliteDriver?: 'sqlite3' | 'node:sqlite' | null;
  readonly ingestLimit?: IngestLimit;
  /** False writes the rows of calls immediately (`call-log/README.md`). */
  readonly callLog?: boolean;
  /** False stores new spans as rows (`span-blocks/README.md`). */
  readonly spanBlocks?: boolean;
  /** False reads the columns of wide rows one by one (`packed-rows/README.md`). */
  readonly packedRows?: boolean;
  /** How long a write waits for a lock that another connection holds, in ms; absent: 5,000. */
  readonly lockTimeoutMs?: number;
  /** Deadline of a query in SQL over traces, in ms; absent: 10,000. */
  readonly traceQueryMs?: number;
}
