import type { Platform } from '../../resolvers/operation/scope.ts';
import type { Bus } from '../domain/bus.ts';
import type { ChangeAnnouncer } from '../domain/cache-changes.ts';
import { createCatalogResultCache } from '../domain/catalog/result-cache.ts';
import type { ActiveGuardrails } from '../domain/guardrails/guardrail.ts';
import { createStartingBatches } from '../domain/upstream-objects/starting-batches.ts';
import { createAgentSessions } from '../domain/a2a-agents/sessions.ts';
import type { A2aAgents } from '../domain/a2a-agents/agents.ts';
import type { Guardrails } from '../domain/guardrails/guardrails.ts';
import type { McpServers } from '../domain/mcp-servers/mcp-server.ts';
import type { ResponseCache } from '../domain/response-cache/response-cache.ts';
import type { ProcessLoad } from '../domain/metrics.ts';
import type { SearchTools } from '../domain/search-tools/search-tool.ts';
import type { VectorStoreIndexes } from '../domain/vector-store-indexes/vector-store-index.ts';
import type { VectorStores } from '../domain/vector-stores/vector-store.ts';
import type { Policies } from '../domain/policies/policies.ts';
import type { ToolPolicies } from '../domain/tools/tool-policies.ts';
import type { Prompts } from '../domain/prompts/prompt.ts';
import { withJobUpdates } from '../domain/jobs/job-updates.ts';
import { createMarketplace } from '../domain/plugins/marketplace.ts';
import { withChangeListener } from '../domain/row-store.ts';
import { callbackSealer } from '../runtime/credentials/text-sealer.ts';
import { createRateLimiter } from '../domain/rate-limiter.ts';
import type { ExportPacker } from '../domain/traces/packed.ts';
import { createCallEstimates } from '../gateway/accounting/estimate-call.ts';
import { createCustomerPermissions } from '../gateway/admission/customer-permissions.ts';
import type { Connections } from '../http/connections.ts';
import type { KeyOwner } from '../gateway/keys/key-ring.ts';
import type { Stores } from '../persistence/stores.ts';
import { SEARCH_VENDORS } from '../providers/search/vendors.ts';
import { createPatternCompiler } from '../runtime/catalog/pattern.ts';
import type { RefreshingCatalog } from '../runtime/catalog/source.ts';
import { createKillSwitches } from '../runtime/a2a-agents/kill-switch.ts';
import { createAgentMessages } from '../runtime/coding-agents/agent-messages.ts';
import { createAgentPolls } from '../runtime/coding-agents/agent-polls.ts';
import { pause, systemClock } from '../runtime/clock.ts';
import type { UpstreamClient } from '../runtime/http-client/client.ts';
import { createClaimedRuns } from '../runtime/lens/claimed-runs.ts';
import { keyGenerator, randomIds } from '../runtime/identifiers.ts';
import { createProviderAccounts } from '../runtime/pass-through/accounts.ts';
import { isInternalAddress } from '../runtime/network/internal-addresses.ts';
import { createPassThroughEndpoints } from '../runtime/pass-through/endpoints.ts';
import { createResponseIds } from '../runtime/responses/response-ids.ts';
import { createMetrics } from '../runtime/telemetry/metrics.ts';
import { createTraceOutlines } from '../runtime/traces/outlines.ts';
import { announcingCatalogKeys, announcingKeys } from './compose-changes.ts';
import type { Deployments } from './compose-deployments.ts';
import type { composeGateway } from './compose-gateway.ts';
import type { Keys, Sales } from './compose-keys.ts';
import type { composeRecords } from './compose-records.ts';
import type { ComposedSettings } from './compose-settings.ts';
import { composeLensService } from './compose-lens.ts';
import { composeMcpEndpoints } from './compose-mcp-endpoints.ts';
import { composeServiceTests } from './compose-service-tests.ts';
import { composeSignIns } from './compose-sign-in.ts';
import type { AdmissionParts } from './compose-admission.ts';
import type { StartContext } from './context.ts';

/** Limit of purchases, because everyone may start one. Each creates a row, and a session at the payment provider. */
const CHECKOUT_RATE_LIMIT = { most: 60, windowMs: 3_600_000, what: 'checkouts' } as const;

interface PlatformParts
  extends
    ReturnType<typeof composeGateway>,
    Pick<AdmissionParts, 'admission' | 'shares' | 'pingRedis'>,
    ReturnType<typeof composeRecords>,
    Deployments,
    Keys,
    Omit<Sales, 'paidKeys'> {
  readonly stores: Stores;
  readonly a2aAgents: A2aAgents;
  readonly guardrails: Guardrails;
  readonly activeGuardrails: ActiveGuardrails;
  readonly vectorStores: VectorStores;
  readonly vectorStoreIndexes: VectorStoreIndexes;
  readonly responseCache: ResponseCache;
  readonly searchTools: SearchTools;
  readonly policies: Policies;
  readonly toolPolicies: ToolPolicies;
  readonly prompts: Prompts;
  readonly mcpServers: McpServers;
  readonly configuration: ComposedSettings['configuration'];
  readonly exports: ExportPacker;
  readonly bus: Bus;
  readonly http: UpstreamClient;
  readonly catalog: RefreshingCatalog;
  readonly connections: Connections;
  readonly changes: ChangeAnnouncer;
}

/** The platform: every object that operations use. */
export function composePlatform(context: StartContext, parts: PlatformParts): Platform {
  const { settings, scheduler, state } = context;
  const { stores, configuration } = parts;
  const { store: plugins, marketplace } = createMarketplace(stores.plugins, systemClock);
  return {
    ...catalogPlatform(parts),
    ...modelPlatform(context, parts),
    ...callPlatform(context, parts),
    ...keyPlatform(context, parts),
    ...composeMcpEndpoints(context),
    stores: {
      ...stores,
      deployments: parts.deploymentStore,
      credentials: parts.credentialStore,
      ...labelStores(stores, parts),
      jobs: withJobUpdates(stores.jobs, (job) => parts.bus.publish('job', job)),
      plugins,
    },
    marketplace,
    payments: parts.payments,
    checkoutRateLimiter: createRateLimiter({ ...CHECKOUT_RATE_LIMIT, clock: systemClock }),
    agentPolls: createAgentPolls({ everyMs: settings.codingAgentPollSeconds * 1000, scheduler }),
    agentMessages: createAgentMessages(settings.codingAgentWebhookSecret),
    exports: parts.exports,
    outlines: createTraceOutlines(),
    configuration,
    costAdjustments: () => configuration.costAdjustments(),
    providerBudgets: () => configuration.providerBudgets(),
    globalBudget: () => configuration.globalBudget(),
    metrics: composeMetrics(context, parts),
    bus: parts.bus,
    clock: systemClock,
    ids: randomIds,
    pause,
    claimedRuns: createClaimedRuns(),
    lensService: composeLensService(context),
    publicUrl: () => settings.billing.publicUrl ?? state.url,
    draining: () => state.draining,
    load: () => loadOf(context, parts),
    spanExport: parts.spanExport,
    serviceTests: composeServiceTests(parts),
    responseCache: parts.responseCache,
    earlierSpend: parts.earlierSpend,
    records: {
      waiting: parts.records.waiting,
      readable: parts.readable,
      spendStored: parts.spendStored,
      newestStartMs: parts.newestStart.ms,
    },
  };
}

/** The catalog, its keys, its free tier and estimates by its prices. */
const catalogPlatform = ({ catalog, catalogKeys, changes, freeTier }: PlatformParts) => ({
  catalog,
  catalogKeys: announcingCatalogKeys(catalogKeys, changes),
  catalogResults: createCatalogResultCache(catalog),
  patterns: createPatternCompiler(),
  freeTier,
  estimates: createCallEstimates(catalog),
});

/** Deployments, fallbacks, guardrails, vector stores, search tools and MCP servers. */
const modelPlatform = ({ settings, log }: StartContext, { deployments, ...parts }: PlatformParts) => ({
  deployments,
  credentials: deployments,
  deploymentReader: settings.deploymentReader,
  storesModels: settings.storesModels,
  modelWarning: (about: Parameters<Platform['modelWarning']>[0]) =>
    log.warn(about, 'the model is probably misconfigured'),
  exposesApiBase: settings.callers.exposeApiBase,
  fallbacks: parts.fallbacks,
  guardrails: parts.guardrails,
  activeGuardrails: parts.activeGuardrails,
  vectorStores: parts.vectorStores,
  vectorStoreIndexes: parts.vectorStoreIndexes,
  searchTools: parts.searchTools,
  searchVendors: SEARCH_VENDORS,
  policies: parts.policies,
  toolPolicies: parts.toolPolicies,
  prompts: parts.prompts,
  mcpServers: parts.mcpServers,
  mcpRegistry: settings.mcp.registry,
  isInternalAddress,
  healthChecks: {
    background: settings.healthChecks.everySeconds > 0,
    details: settings.healthChecks.details,
    queue: parts.healthCheckQueue,
  },
});

/** The gateway, pass-through calls, file limits, decisions and responses. */
const callPlatform = (context: StartContext, { deployments, ...parts }: PlatformParts) => {
  const { settings } = context;
  return {
    gateway: parts.gateway,
    accounts: createProviderAccounts(settings.providerAccounts, {
      stored: deployments,
      deployments: () => deployments.current(),
      served: settings.providerPassThrough,
      costPerRequest: settings.providerCostPerRequest,
    }),
    passThrough: composePassThrough(context, parts.stores),
    a2aAgents: parts.a2aAgents,
    killSwitches: createKillSwitches(parts.http),
    agentSessions: createAgentSessions(),
    customerPermissions: createCustomerPermissions(parts.labelBudgets),
    fileLimits: settings.fileLimits,
    objectQueue: parts.objectQueue,
    startingBatches: createStartingBatches(),
    decisions: {
      maxQuestions: settings.mostDecisionQuestions,
      fallbackBelow: settings.decisionFallbackBelow,
      storage: settings.storeDecisions,
      queue: parts.decisionQueue,
      pending: parts.pendingDecisions,
      calibrations: parts.calibrations,
    },
    responses: {
      ids: createResponseIds(settings.masterKey),
      idSecurity: settings.responseIdSecurity,
      queue: parts.responseQueue,
    },
  };
};

/** Keys, their owners, and sign-in. */
function keyPlatform(context: StartContext, { stores, changes, configuration, ...parts }: PlatformParts) {
  const { settings } = context;
  const keyRing = announcingKeys(parts.keyRing, changes);
  return {
    keyRing,
    ownedKeys: {
      evictOwner(...owners: readonly KeyOwner[]) {
        keyRing.evictOwner(...owners);
        for (const { kind, id } of owners) if (kind === 'teamId') parts.teamLogging.evict(id);
      },
    },
    tracingKeyRing: keyRing,
    availableTeams: settings.availableTeams,
    keyRules: settings.keyRules,
    callerWatch: parts.callerWatch,
    keyGenerator,
    signIns: composeSignIns(context, stores),
    allowedAddresses: configuration.allowedAddresses,
    teamLogging: parts.teamLogging,
    callbackSecrets: callbackSealer(settings.saltSecrets),
  };
}

const loadOf = ({ state }: StartContext, { http, connections }: PlatformParts): ProcessLoad => {
  const { total, network } = connections.counts().refused;
  return { openRequests: state.openRequests(), waitingCalls: http.connections().waiting, refused: total + network };
};

/**
 * Stores whose rows decide budgets of keys and of labels, which are the customers and tags that calls name. Each change
 * in this process evicts cached budgets of labels, and marks cached keys as stale where it may concern them.
 */
const labelStores = (
  { budgets, customers, tags }: Stores,
  { labelBudgets: { evictAll }, keyRing }: Pick<PlatformParts, 'labelBudgets' | 'keyRing'>,
) => ({
  budgets: withChangeListener(budgets, (how) => {
    evictAll();
    // A budget that was just added belongs to no key yet.
    if (how !== 'added') keyRing.markStale();
  }),
  customers: withChangeListener(customers, evictAll),
  tags: withChangeListener(tags, evictAll),
});

const composePassThrough = ({ settings, log }: StartContext, stores: Stores) =>
  createPassThroughEndpoints({
    configured: settings.passThrough.endpoints,
    timeoutSeconds: settings.passThrough.timeoutSeconds,
    store: stores.passThrough,
    secrets: settings.adminSecrets,
    log,
  });

function composeMetrics({ scheduler }: StartContext, parts: PlatformParts) {
  const {
    catalog,
    spanExport,
    teamLogging,
    records,
    stores,
    connections,
    http,
    admission,
    shares,
    modelCalls,
    gateway,
    responseCache,
  } = parts;
  return createMetrics({
    catalog,
    spanExport,
    teamExports: teamLogging.counts,
    calls: { waiting: records.waiting, backlog: stores.calls.backlog },
    connections: connections.counts,
    upstreams: () => http.connections(),
    failedWrites: stores.failedWrites,
    failedTasks: scheduler.failures,
    unpricedCalls: gateway.unpriced,
    reservations: admission.counts,
    shares: shares?.counts ?? null,
    answerCache: () => responseCache.status(),
    modelCalls,
    clock: systemClock,
  });
}
