import type { EarlierSpend } from '../../src/domain/owners/started-owner.ts';
import type { KeyRules } from '../../src/domain/keys/generation-rules.ts';
import type { ProviderBudgets, RouteBudget } from '../../src/domain/budgets/route-budget.ts';
import type { Bus } from '../../src/domain/bus.ts';
import type { CatalogSource } from '../../src/domain/catalog/catalog.ts';
import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { AgentMessages, AgentPolls } from '../../src/domain/coding-agents/agent-polls.ts';
import type { FallbackRegistry } from '../../src/domain/fallbacks/fallback.ts';
import type { KeyGenerator } from '../../src/domain/keys/virtual-key.ts';
import type { LensRowStores } from '../../src/domain/lens/row-stores.ts';
import type { ClaimedRuns } from '../../src/domain/lens/worker.ts';
import type { ActiveGuardrails } from '../../src/domain/guardrails/guardrail.ts';
import type { Guardrails } from '../../src/domain/guardrails/guardrails.ts';
import type { PassThroughEndpoints } from '../../src/domain/pass-through/endpoints.ts';
import type { ProviderAccounts } from '../../src/domain/pass-through/providers.ts';
import type { AnswerCache } from '../../src/domain/response-cache/response-cache.ts';
import type { ResponseQueue } from '../../src/domain/responses/stored-response.ts';
import type { ResponseIds } from '../../src/domain/responses/response-ids.ts';
import type { AllowedAddresses } from '../../src/domain/settings/allowed-addresses.ts';
import type { Calibrations } from '../../src/domain/decisions/outcome.ts';
import type { StorageLevel, StoredDecision } from '../../src/domain/decisions/stored-decision.ts';
import type { RowQueue } from '../../src/domain/row-queue.ts';
import type { Configuration } from '../../src/domain/settings/configuration.ts';
import type { CostAdjustments } from '../../src/domain/settings/cost-adjustments.ts';
import type { TraceOutlines } from '../../src/domain/traces/outline.ts';
import type { ExportPacker } from '../../src/domain/traces/packed.ts';
import type { FileLimits } from '../../src/domain/upstream-objects/file-limits.ts';
import type { CallerWatch } from '../../src/gateway/keys/caller-watch.ts';
import type { PendingDecisions } from '../../src/gateway/accounting/pending-decisions.ts';
import type { CallEstimates } from '../../src/gateway/accounting/estimate-call.ts';
import type {
  ForwardGateway,
  Gateway,
  ObjectGateway,
  PreviewGateway,
  ReservedCalls,
  TokenGateway,
} from '../../src/gateway/gateway.ts';
import type { KeyRing } from '../../src/gateway/keys/key-ring.ts';
import type { CredentialRing } from '../../src/gateway/keys/credential-ring.ts';
import type { GuardrailNamingPlatform } from './guardrail-naming-platform.ts';
import type { PromptedPlatform } from './prompt-platform.ts';
import type { ContainerNamingPlatform, StoreNamingPlatform } from './object-rights-platform.ts';
import type { KeyStores, Stores } from './stores.ts';

/*
 * The platform by noun. An operation declares the slice that it needs as `Scope<Slice>` and receives nothing else.
 * Objects that several nouns use are in several slices, under one name.
 */

/** Virtual keys. */
export interface KeyPlatform extends GuardrailNamingPlatform {
  readonly stores: KeyStores;
  readonly keyRing: Pick<KeyRing, 'evict' | 'refresh'>;
  readonly callerWatch: Pick<CallerWatch, 'runChecks'>;
  readonly keyGenerator: KeyGenerator;
  /** Rules of the configuration for creating and changing keys. */
  readonly keyRules: KeyRules;
  /** Settings that restrict the creation of keys, and defaults of new users and teams. */
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Users and their invitations. Their keys are virtual keys. */
export interface UserPlatform extends KeyPlatform {
  readonly stores: KeyPlatform['stores'] & Pick<Stores, 'invitations'>;
  /** Evicts keys whose user or team was changed. */
  readonly ownedKeys: Pick<KeyRing, 'evictOwner'>;
  readonly earlierSpend: EarlierSpend;
}

/** Teams and their members. */
export interface TeamPlatform extends UserPlatform {
  /** Ids of teams that users may join by themselves. */
  readonly availableTeams: readonly string[];
}

/** Callbacks of teams. */
export interface TeamLoggingPlatform extends TeamPlatform {
  readonly teamLogging: {
    /** Evicts the cached callbacks of a team, so that the next call reads them. */
    evict(teamId: string): void;
  };
  /** Encrypts secrets of callbacks. A secret of one team cannot be decrypted as a secret of another team. */
  readonly callbackSecrets: { seal(text: string, teamId: string): string };
}

/** Recorded changes of rows. */
export interface AuditPlatform {
  readonly stores: Pick<Stores, 'auditLog'>;
}

/** Budgets that other rows refer to. */
export interface BudgetPlatform {
  readonly stores: Pick<Stores, 'budgets'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Access groups of teams and keys. */
export interface AccessGroupPlatform {
  readonly stores: Pick<Stores, 'accessGroups' | 'keys' | 'teams'>;
  readonly keyRing: Pick<KeyRing, 'evict'>;
  readonly ownedKeys: Pick<KeyRing, 'evictOwner'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Mappings from claim values of signed tokens to virtual keys. */
export interface TokenMappingPlatform extends KeyPlatform {
  readonly stores: KeyPlatform['stores'] & Pick<Stores, 'tokenMappings'>;
  readonly keyRing: KeyPlatform['keyRing'] & Pick<KeyRing, 'markStale'>;
}

/** Customers of client applications. */
export interface CustomerPlatform extends BudgetPlatform {
  readonly stores: Pick<Stores, 'budgets' | 'customers' | 'spend'>;
}

/** Tags of calls. */
export interface TagPlatform extends BudgetPlatform {
  readonly stores: Pick<Stores, 'budgets' | 'tags'>;
}

/** Spend of calls, and cost estimates. */
export interface SpendPlatform extends KeyPlatform {
  readonly stores: KeyPlatform['stores'] & Pick<Stores, 'spendReports' | 'traces'>;
  readonly records: Pick<RecordState, 'readable'>;
  readonly gateway: Pick<Gateway, 'deployments'>;
  /** Whether every caller sees the base addresses of upstreams, not only administrators. */
  readonly exposesApiBase: boolean;
  readonly catalog: CatalogSource;
  /** Discounts and margins of providers. */
  readonly costAdjustments: () => CostAdjustments;
}

/** Resets of spend. */
export interface SpendResetPlatform {
  readonly stores: Pick<Stores, 'keys' | 'spend' | 'teams'>;
  readonly records: Pick<RecordState, 'spendStored'>;
  readonly keyRing: Pick<KeyRing, 'evict'>;
  readonly ownedKeys: Pick<KeyRing, 'evictOwner'>;
  readonly clock: Clock;
}

/** Budget windows of users, teams and budgets. */
export interface OwnerWindowPlatform {
  readonly stores: Pick<Stores, 'budgets' | 'ownerWindows' | 'spend' | 'teams' | 'users'>;
  readonly ownedKeys: Pick<KeyRing, 'evictOwner'>;
  readonly clock: Clock;
}

/** Budgets of providers, and the budget of all calls. */
export interface ProviderBudgetPlatform {
  readonly stores: Pick<Stores, 'spend'>;
  readonly records: Pick<RecordState, 'spendStored'>;
  readonly providerBudgets: () => ProviderBudgets;
  /** Budget of all calls; null for none. */
  readonly globalBudget: () => RouteBudget | null;
  readonly clock: Clock;
}

/** Spend and tokens by day, of users, teams and other owners. */
export interface ActivityPlatform extends SpendPlatform {
  readonly stores: SpendPlatform['stores'] & Pick<Stores, 'customers'>;
}

/** Counts of requests. */
export interface GatewayActivityPlatform {
  readonly stores: Pick<Stores, 'gatewayActivity'>;
  readonly bus: Bus;
  readonly keyRing: Pick<KeyRing, 'current'>;
  readonly callerWatch: CallerWatch;
  readonly clock: Clock;
}

/** Model calls. */
export interface InferencePlatform extends PromptedPlatform, Pick<ObjectPlatform, 'stores'>, StoreNamingPlatform {
  readonly gateway: Gateway & ObjectGateway & PreviewGateway & TokenGateway;
  readonly fileLimits: FileLimits;
}

/** Decisions. */
export interface DecisionPlatform {
  readonly stores: Pick<Stores, 'decisions' | 'decisionOutcomes'>;
  readonly gateway: Gateway;
  readonly fallbacks: Pick<FallbackRegistry, 'policy'>;
  readonly decisions: {
    /** Maximum number of questions of one request. */
    readonly maxQuestions: number;
    /** Label mass (0 to 1) below which a question is sent to a fallback, as a refused one is. Null disables them. */
    readonly fallbackBelow: number | null;
    /** Storage level of decisions, unless their key sets another one. */
    readonly storage: StorageLevel;
    readonly queue: RowQueue<StoredDecision>;
    /** Decisions that guardrails mask before they are queued. */
    readonly pending: Pick<PendingDecisions, 'add' | 'settled' | 'signal'>;
    readonly calibrations: Calibrations;
  };
  readonly clock: Clock;
}

/** Realtime sessions. */
export interface RealtimePlatform {
  readonly gateway: Pick<Gateway, 'realtime'>;
  readonly keyRing: Pick<KeyRing, 'current'>;
}

/** Files and batches that an upstream stores. */
export interface ObjectPlatform extends ContainerNamingPlatform {
  readonly stores: Pick<Stores, 'upstreamObjects'>;
  readonly gateway: ObjectGateway;
  readonly fileLimits: FileLimits;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Responses, stored here or by an upstream. */
export interface ResponsePlatform extends PromptedPlatform, ContainerNamingPlatform {
  readonly stores: Pick<Stores, 'responses' | 'upstreamObjects'>;
  readonly gateway: Gateway & ObjectGateway;
  readonly responses: {
    readonly ids: ResponseIds;
    /** Whether only the owner of a response may use its id. */
    readonly idSecurity: boolean;
    /** Stores the responses that no upstream stores. */
    readonly queue: ResponseQueue;
  };
  readonly responseCache: AnswerCache;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Paths whose calls are forwarded to an address. */
export interface PassThroughPlatform extends StoreNamingPlatform, Pick<DecisionPlatform, 'fallbacks'> {
  readonly stores: Pick<Stores, 'teams'>;
  readonly passThrough: PassThroughEndpoints;
  /** Accounts of providers whose own APIs are served below a prefix. */
  readonly accounts: ProviderAccounts;
  readonly gateway: ForwardGateway & Pick<Gateway, 'deployments'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Checks of the texts of calls and answers. */
export interface GuardrailPlatform {
  readonly stores: Pick<Stores, 'guardrailUse'>;
  readonly guardrails: Guardrails;
  /** Guardrails that are ready to run. */
  readonly activeGuardrails: ActiveGuardrails;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Coding agents that were launched through the gateway. */
export interface CodingAgentPlatform {
  readonly stores: Pick<Stores, 'codingAgents'>;
  readonly passThrough: Pick<PassThroughEndpoints, 'timeoutSeconds'>;
  readonly accounts: ProviderAccounts;
  readonly gateway: ForwardGateway;
  readonly agentPolls: AgentPolls;
  readonly agentMessages: AgentMessages;
  readonly bus: Bus;
  readonly keyRing: Pick<KeyRing, 'current'>;
  readonly callerWatch: CallerWatch;
  readonly clock: Clock;
}

/** Records of calls that wait for the store. */
export interface RecordState {
  /** Number of calls whose records are not committed yet. */
  waiting(): number;
  /**
   * Resolves to true when the records of the calls that have ended can be read. Resolves to false within a second when
   * the store is slow.
   */
  readable(): Promise<boolean>;
  /** As `readable`, for spend only. It does not wait for a separate store of spans. */
  spendStored(): Promise<boolean>;
  /**
   * Start of the newest call of the gateway, Unix ms. `-Infinity` without any call, and `Infinity` where it is unknown.
   * Calls of the gateway count as soon as they have ended.
   */
  newestStartMs(): Promise<number>;
}

/** Traces and their spans. */
export interface TracePlatform {
  readonly stores: Pick<Stores, 'annotations' | 'traceQueries' | 'traces' | 'traceSignals' | 'spend'>;
  /** Estimates the cost of calls that did not go through the gateway, from catalog prices. */
  readonly estimates: CallEstimates;
  readonly exports: ExportPacker;
  /** Cached agents and spend of traces that are read page by page. */
  readonly outlines: TraceOutlines;
  readonly records: Pick<RecordState, 'readable' | 'newestStartMs'>;
  readonly bus: Bus;
  readonly keyRing: Pick<KeyRing, 'current'>;
  readonly callerWatch: CallerWatch;
  readonly clock: Clock;
}

/** Settings of the configuration file and the database. */
export interface SettingsPlatform {
  readonly stores: Pick<Stores, 'settings'>;
  readonly configuration: Configuration;
  readonly passThrough: Pick<PassThroughEndpoints, 'list' | 'removeStored'>;
  readonly allowedAddresses: AllowedAddresses;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Settings, and live feeds of them. */
export interface SettingsFeedPlatform extends SettingsPlatform {
  readonly keyRing: Pick<KeyRing, 'current' | 'evict' | 'refresh'>;
  readonly callerWatch: CallerWatch;
}

/** Labels, scores and notes on traces and spans. */
export interface AnnotationPlatform extends TracePlatform {
  readonly ids: Ids;
}

/** Lenses, their runs and workers. */
export interface LensPlatform {
  readonly stores: Pick<
    Stores,
    keyof LensRowStores | 'annotations' | 'jobs' | 'keys' | 'lenses' | 'lensWorkers' | 'spend' | 'traces' | 'writable'
  >;
  /** Evicts tracing keys from memory. */
  readonly tracingKeyRing: Pick<CredentialRing, 'evictTracingKey'>;
  /** The token of the operator's trace service: a check, and its hash as of workers' tokens. Null without a service. */
  readonly lensService: { readonly isToken: (token: string) => boolean; readonly tokenHash: string } | null;
  /** Base address of this process, without a trailing slash. */
  publicUrl(): string;
  readonly gateway: Pick<Gateway, 'deployments'> & ReservedCalls;
  readonly catalog: CatalogSource;
  readonly keyRing: Pick<KeyRing, 'current' | 'evict' | 'refresh'>;
  readonly callerWatch: CallerWatch;
  readonly records: Pick<RecordState, 'readable'>;
  readonly keyGenerator: KeyGenerator;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly claimedRuns: ClaimedRuns;
  /** Waits. Rejects with the reason of the signal when the signal aborts first. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
}
