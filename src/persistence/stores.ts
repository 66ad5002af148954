import type { CallStore } from '../domain/calls/call-record.ts';
import type { CatalogHistory } from '../domain/catalog/history.ts';
import type { ReleaseStore } from '../domain/catalog/releases.ts';
import type { CheckoutStore } from '../domain/checkout/checkout.ts';
import type { FreeTierStore } from '../domain/free-tier/free-tier.ts';
import type { KeyStore } from '../domain/keys/virtual-key.ts';
import type { SealedResponseStore } from '../domain/responses/kept-response.ts';
import type { BodyReader } from '../domain/traces/packed.ts';
import type { SpendStore } from '../domain/spend/spend-row.ts';
import type { TraceStore } from '../domain/traces/store.ts';
import type { UpstreamObjectStore } from '../domain/upstream-objects/upstream-object.ts';
import type { ClickHouseLocation } from './clickhouse/client.ts';

/** Everything that is kept, over one database; traces perhaps over another. */
export interface Stores {
  readonly calls: CallStore;
  /** Takes the spans of calls, where they are kept apart from what the calls cost; null: `calls` takes them. */
  readonly callSpans: CallStore | null;
  readonly catalogHistory: CatalogHistory;
  readonly catalogReleases: ReleaseStore;
  readonly checkouts: CheckoutStore;
  readonly freeTier: FreeTierStore;
  readonly keys: KeyStore;
  readonly responses: SealedResponseStore;
  readonly spend: SpendStore;
  readonly traces: TraceStore;
  readonly upstreamObjects: UpstreamObjectStore;
  /** What is underneath all but perhaps the traces. */
  readonly engine: 'sqlite3' | 'node:sqlite' | 'postgresql';
  /** Resolves when the database answers; throws Unavailable when it does not. Nobody is kept waiting by traces alone. */
  ping(): Promise<void>;
  /**
   * Resolves while the database takes writes. Throws Unavailable within a second after a write failed, until a write works
   * again. Writes to ClickHouse do not count, as for `ping`.
   */
  writable(): Promise<void>;
  /** Number of writes since the start that the database did not take. */
  failedWrites(): number;
  /** Waits for commits under way, then lets the database go. */
  close(): Promise<void>;
}

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
  /** Opens the bodies that spans point into; who reads or forgets no spans of exports needs none. */
  readonly bodies?: BodyReader;
  /** Which library runs SQLite; null or absent: `sqlite3` where it is installed, else `node:sqlite`. */
  readonly sqliteDriver?: 'sqlite3' | 'node:sqlite' | null;
  readonly ingestLimit?: IngestLimit;
  /** How long a write waits for a lock that another connection holds, in ms; absent: 5,000. */
  readonly lockTimeoutMs?: number;
}
