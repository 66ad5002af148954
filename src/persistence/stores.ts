import type { Ledger } from '../domain/admission/ledger.ts';
import type { AnnotationStore } from '../domain/annotations/annotation.ts';
import type { AuditLog, Authorship } from '../domain/audit-log/audit-entry.ts';
import type { CallStore } from '../domain/calls/call-record.ts';
import type { CatalogHistory } from '../domain/catalog/history.ts';
import type { ReleaseStore } from '../domain/catalog/releases.ts';
import type { CheckoutStore } from '../domain/checkout/checkout.ts';
import type { HealthCheckStore } from '../domain/deployments/health-check.ts';
import type { FallbackStore } from '../domain/fallbacks/fallback.ts';
import type { CodingAgentStore } from '../domain/coding-agents/coding-agent.ts';
import type { OutcomeStore } from '../domain/decisions/outcome.ts';
import type { DecisionStore } from '../domain/decisions/stored-decision.ts';
import type { FreeTierStore } from '../domain/free-tier/free-tier.ts';
import type { GatewayActivityStore } from '../domain/gateway-activity/gateway-activity.ts';
import type { JobStore } from '../domain/jobs/job.ts';
import type { KeyStore } from '../domain/keys/virtual-key.ts';
import type { GuardrailUseStore } from '../domain/guardrails/guardrail-use.ts';
import type { GuardrailStore } from '../domain/guardrails/stored-guardrail.ts';
import type { EndpointStore } from '../domain/pass-through/endpoint.ts';
import type { ProcessMessages } from '../domain/process-messages.ts';
import type { LensRowStores } from '../domain/lens/row-stores.ts';
import type { LensStore, LensWorkerStore } from '../domain/lens/store.ts';
import type { SealedResponseStore } from '../domain/responses/stored-response.ts';
import type { SealedCredential, SealedDeployment, SealedStore } from '../domain/sealed-row.ts';
import type { BodyReader } from '../domain/traces/packed.ts';
import type { SettingsStore } from '../domain/settings/stored-section.ts';
import type { SpendReports } from '../domain/spend/spend-reports.ts';
import type { SpendStore } from '../domain/spend/spend-row.ts';
import type { TenancyStores } from '../domain/tenancy-stores.ts';
import type { TraceQueries } from '../domain/traces/trace-query.ts';
import type { TraceStore } from '../domain/traces/store.ts';
import type { UpstreamObjectStore } from '../domain/upstream-objects/upstream-object.ts';
import type { PendingSignInStore } from '../domain/users/pending-sign-ins.ts';
import type { ClickHouseLocation } from './clickhouse/client.ts';

/** All stores, over one database; traces may be in another. */
export interface Stores extends TenancyStores, LensRowStores {
  /** Counters that the processes of the database share; null for SQLite, which one process uses at a time. */
  readonly admissionLedger: Ledger | null;
  readonly annotations: AnnotationStore;
  readonly auditLog: AuditLog;
  readonly authorship: Authorship;
  readonly calls: CallStore;
  /** Store of the spans of calls, where it is not that of their spend; null: `calls` stores both. */
  readonly callSpans: CallStore | null;
  readonly catalogHistory: CatalogHistory;
  readonly catalogReleases: ReleaseStore;
  readonly checkouts: CheckoutStore;
  readonly credentials: SealedStore<SealedCredential>;
  readonly deployments: SealedStore<SealedDeployment>;
  readonly healthChecks: HealthCheckStore;
  readonly fallbacks: FallbackStore;
  readonly codingAgents: CodingAgentStore;
  readonly decisions: DecisionStore;
  readonly decisionOutcomes: OutcomeStore;
  readonly freeTier: FreeTierStore;
  readonly gatewayActivity: GatewayActivityStore;
  readonly jobs: JobStore;
  readonly keys: KeyStore;
  readonly guardrails: GuardrailStore;
  readonly guardrailUse: GuardrailUseStore;
  readonly passThrough: EndpointStore;
  /** Contents are stored as given: encrypt them before. */
  readonly pendingSignIns: PendingSignInStore;
  /** Messages between the processes of the database; null for SQLite, which one process uses at a time. */
  readonly processMessages: ProcessMessages | null;
  readonly lenses: LensStore;
  readonly lensWorkers: LensWorkerStore;
  readonly responses: SealedResponseStore;
  readonly settings: SettingsStore;
  readonly spend: SpendStore;
  readonly spendReports: SpendReports;
  readonly traceQueries: TraceQueries;
  readonly traces: TraceStore;
  readonly upstreamObjects: UpstreamObjectStore;
  /** The engine of all stores except traces in ClickHouse. */
  readonly engine: 'sqlite3' | 'node:sqlite' | 'postgresql';
  /** Resolves when the database answers; throws Unavailable when it does not. ClickHouse is not checked. */
  ping(): Promise<void>;
  /**
   * Resolves while the database takes writes. Throws Unavailable within a second after a write failed, until a write works
   * again. Writes to ClickHouse do not count, as for `ping`.
   */
  writable(): Promise<void>;
  /** Number of writes since the start that the database did not take. */
  failedWrites(): number;
  /** Waits for running commits, then closes the database. */
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
  /** Opens the bodies of spans; needed only to read or remove spans of exports. */
  readonly bodies?: BodyReader;
  /** Which library runs SQLite; null or absent: `sqlite3` where it is installed, else `node:sqlite`. */
  readonly sqliteDriver?: 'sqlite3' | 'node:sqlite' | null;
  readonly ingestLimit?: IngestLimit;
  /** False writes the rows of calls at once (`call-log/README.md`). */
  readonly callLog?: boolean;
  /** False stores new spans as rows (`span-blocks/README.md`). */
  readonly spanBlocks?: boolean;
  /** How long a write waits for a lock that another connection holds, in ms; absent: 5,000. */
  readonly lockTimeoutMs?: number;
  /** Deadline of a query in SQL over traces, in ms; absent: 10,000. */
  readonly traceQueryMs?: number;
}
