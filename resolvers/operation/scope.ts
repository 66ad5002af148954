import type { Bus } from '../../src/domain/bus.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { FollowedCatalog, PatternCompiler } from '../../src/domain/catalog/catalog.ts';
import type { PaymentProvider } from '../../src/domain/checkout/payments.ts';
import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { FileLimits } from '../../src/domain/upstream-objects/file-limits.ts';
import type { Client } from '../../src/domain/free-tier/client.ts';
import type { FreeTier } from '../../src/domain/free-tier/free-tier.ts';
import type { KeySmith } from '../../src/domain/keys/virtual-key.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import type { Pace } from '../../src/domain/rate-limiter.ts';
import type { ResponseKeeper } from '../../src/domain/responses/kept-response.ts';
import type { ResponseIds } from '../../src/domain/responses/response-ids.ts';
import type { TraceOutlines } from '../../src/domain/traces/outline.ts';
import type { ExportPacker } from '../../src/domain/traces/packed.ts';
import type { CallerWatch } from '../../src/gateway/caller-watch.ts';
import type { CatalogKeyRing } from '../../src/gateway/catalog-key-ring.ts';
import type { CallEstimates } from '../../src/gateway/estimate-call.ts';
import type { Gateway, ObjectGateway, ProbeGateway, TokenGateway } from '../../src/gateway/gateway.ts';
import type { KeyRing } from '../../src/gateway/key-ring.ts';
import type { Loaders } from './loaders.ts';
import type { Stores } from './stores.ts';

/** Everything that lives as long as the process and that operations may use. */
export interface Platform {
  readonly stores: Stores;
  readonly catalog: FollowedCatalog;
  readonly catalogKeys: CatalogKeyRing;
  readonly patterns: PatternCompiler;
  readonly freeTier: FreeTier;
  readonly payments: PaymentProvider;
  /** How often one client may begin a purchase. */
  readonly checkoutPace: Pace;
  readonly gateway: Gateway;
  readonly objects: ObjectGateway;
  readonly tokens: TokenGateway;
  readonly prober: ProbeGateway;
  /** Whether deployments are asked all the time whether they answer, and whether callers are told more than that. */
  readonly healthChecks: { readonly background: boolean; readonly details: boolean };
  /** Most bytes of files that callers send; null where only the size of a request bounds them. */
  readonly fileLimits: FileLimits;
  /** Whether every caller is shown the base address of an upstream that answered; administrators always are. */
  readonly exposesApiBase: boolean;
  /** What calls that others make cost by the catalog. */
  readonly estimates: CallEstimates;
  /** Reads the exports of spans that come in. */
  readonly exports: ExportPacker;
  /** Of traces that are read page by page. */
  readonly outlines: TraceOutlines;
  readonly keyRing: Pick<KeyRing, 'identify' | 'current' | 'forget'>;
  /** Of those who follow live feeds. */
  readonly callerWatch: CallerWatch;
  /** How responses are found again, and whether only by their owners; and who keeps those that no upstream does. */
  readonly responses: { readonly ids: ResponseIds; readonly idSecurity: boolean; readonly keeper: ResponseKeeper };
  readonly keySmith: KeySmith;
  readonly metrics: Metrics;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Where buyers reach this process, without a trailing slash; never taken from what a caller says. */
  publicUrl(): string;
  /** Whether the process is shutting down. */
  draining(): boolean;
  /** Gateway calls whose records are not committed yet. */
  recordsWaiting(): number;
  /** Resolves when the records of calls that have ended so far can be read; to false, soon, when the store is slow. */
  recordsReadable(): Promise<boolean>;
}

/** What one operation may see: the platform, who calls, and when the caller leaves. */
export interface Scope {
  readonly platform: Platform;
  /** Null when no credential was sent. */
  readonly caller: Caller | null;
  /** Who sent the request, by address; one for all operations of a request. */
  readonly client: Client;
  /** Fires when the caller leaves or the process gives up on it. */
  readonly signal: AbortSignal;
  /** One DataLoader per question; fresh for every scope, and for every event of a subscription. */
  readonly loaders: Loaders;
}
