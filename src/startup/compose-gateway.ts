import type { Bus } from '../domain/bus.ts';
import type { CallRecord } from '../domain/calls/call-record.ts';
import type { CatalogSource } from '../domain/catalog/catalog.ts';
import { UNCALIBRATED } from '../domain/decisions/calibration.ts';
import type { DeploymentSource } from '../domain/deployments/deployment-source.ts';
import type { FallbackRegistry } from '../domain/fallbacks/fallback.ts';
import type { CountsLedger, LocalCounts } from '../domain/routing/shared-counts.ts';
import type { Guardrails } from '../domain/guardrails/guardrails.ts';
import type { McpServers } from '../domain/mcp-servers/mcp-server.ts';
import type { AnswerCache } from '../domain/response-cache/response-cache.ts';
import type { Policies } from '../domain/policies/policies.ts';
import { toolPolicyGuardrail } from '../domain/guardrails/kinds/tool-policy.ts';
import type { ToolPolicies } from '../domain/tools/tool-policies.ts';
import { createGateway } from '../gateway/create-gateway.ts';
import { createAskDecisions } from '../gateway/guardrails/guardrail-decisions.ts';
import { createReservedCalls } from '../gateway/calls/reserved-calls.ts';
import { withTokenCalls } from '../gateway/calls/token-calls.ts';
import { createBudgetAlerts } from '../gateway/admission/budget-alerts.ts';
import { createLabelBudgets } from '../gateway/admission/label-budgets.ts';
import type { Stores } from '../persistence/stores.ts';
import { deltasOfChatCompletion } from '../providers/answer-deltas.ts';
import { createForwarder } from '../providers/forwarding.ts';
import { createProviders } from '../providers/providers.ts';
import { pause, systemClock } from '../runtime/clock.ts';
import { type BudgetWebhook, createBudgetWebhook } from '../runtime/alerts/budget-webhook.ts';
import { createAwsAccounts } from '../runtime/credentials/aws-accounts.ts';
import { createGoogleTokens } from '../runtime/credentials/google-tokens.ts';
import { createIssuedTokens } from '../runtime/credentials/issued-tokens.ts';
import { decisionModel } from '../runtime/guardrails/decision-model.ts';
import { genericGuardrailApi } from '../runtime/guardrails/generic-api.ts';
import { openAiModeration } from '../runtime/guardrails/openai-moderation.ts';
import { presidio } from '../runtime/guardrails/presidio.ts';
import { createActiveGuardrails } from '../runtime/guardrails/active-guardrails.ts';
import type { UpstreamClient } from '../runtime/http-client/client.ts';
import { openUpstreamClient } from '../runtime/http-client/open-client.ts';
import { randomIds, sha256 } from '../runtime/identifiers.ts';
import { createCallerAddresses } from '../runtime/network/caller-addresses.ts';
import { webSocketClient } from '../runtime/network/web-sockets.ts';
import { createMcpUpstream } from '../runtime/mcp/upstream.ts';
import type { RunningConfiguration } from '../runtime/stored-settings/configuration.ts';
import { startCountsExchange } from '../runtime/routing/counts-exchange.ts';
import { type CallMetrics, createCallMetrics } from '../runtime/telemetry/call-metrics.ts';
import type { AdmissionParts } from './compose-admission.ts';
import type { Keys } from './compose-keys.ts';
import type { composeRecords } from './compose-records.ts';
import type { StartContext } from './context.ts';

/** The HTTP client of all upstreams. */
export async function composeUpstreams({ settings, shutdown }: StartContext): Promise<UpstreamClient> {
  const http = await openUpstreamClient(settings.upstream, createCallerAddresses(settings.callers.allowedHosts));
  shutdown.add('upstream connections', () => http.close());
  return http;
}

interface GatewayParts extends ReturnType<typeof composeRecords>, AdmissionParts {
  readonly stores: Stores;
  readonly http: UpstreamClient;
  readonly bus: Bus;
  readonly catalog: CatalogSource;
  readonly deployments: DeploymentSource;
  readonly configuration: RunningConfiguration;
  readonly fallbacks: Pick<FallbackRegistry, 'policy'>;
  readonly guardrails: Pick<Guardrails, 'definitions' | 'refuseFaulty'>;
  readonly mcpServers: Pick<McpServers, 'servers'>;
  readonly responseCache: AnswerCache;
  readonly policies: Pick<Policies, 'book'>;
  readonly toolPolicies: ToolPolicies;
  readonly keyOf: Keys['keyOf'];
}

/** The gateway over all deployments and provider adapters. */
export function composeGateway(context: StartContext, parts: GatewayParts) {
  const { bus, admission, rateLimits, countedBudgets } = parts;
  const { endUserBudgetId, modelMetrics } = context.settings;
  const modelCalls = modelMetrics ? composeCallMetrics(parts.deployments) : null;
  const labelBudgets = createLabelBudgets(parts.stores, countedBudgets, systemClock, endUserBudgetId);
  const webhook = composeWebhook(context, parts.http);
  const activeGuardrails = composeActiveGuardrails(context, parts, () => gateway);
  const gateway: ReturnType<typeof createGateway> = createGateway({
    ...composeUpstreamAdapters(context, parts),
    mcpUpstream: composeMcpUpstream(context, parts),
    ...rulesOf(context, parts),
    deployments: parts.deployments,
    catalog: parts.catalog,
    recorder: {
      record: recordOf(parts, modelCalls),
      recordTools: (use) => parts.toolUse.count(use),
      pending: parts.pendingRecords,
    },
    budgetAlerts: createBudgetAlerts(systemClock, (alert) => {
      bus.publish('budgetAlert', alert);
      webhook?.send(alert);
    }),
    guardrails: activeGuardrails,
    answerCache: parts.responseCache,
    readDeltas: deltasOfChatCompletion,
    policies: parts.policies,
    keepHealthCheck: (check) => parts.healthCheckQueue.enqueue(check),
    admission,
    labelBudgets,
    keyOf: parts.keyOf,
    openAmounts: parts.openAmounts,
    onUncharged: ({ id, kind, reason }) =>
      context.log.warn({ id, kind, reason }, 'the cost of an object is not known: it is recorded without a charge'),
    rateLimits,
    clock: systemClock,
    ids: randomIds,
    pause,
    random: Math.random,
    digest: sha256,
  });
  shareCounts(context, parts.countsLedger, gateway.routingCounts);
  const calls = withTokenCalls(gateway);
  return {
    gateway: { ...calls, ...createReservedCalls(calls.call) },
    activeGuardrails,
    labelBudgets,
    modelCalls,
    webhook,
  };
}

/** Shares the counts of deployments with other processes, where a Redis server is configured. */
function shareCounts(
  { log, scheduler, shutdown, state }: StartContext,
  ledger: CountsLedger | null,
  counts: LocalCounts,
): void {
  if (ledger === null) return;
  const exchange = startCountsExchange({
    ledger,
    counts,
    process: randomIds.uuid(),
    scheduler,
    changed(failure) {
      if (state.draining) return;
      if (failure === null)
        log.info({}, 'use, latency and cooldowns of deployments are shared with other processes again');
      else
        log.warn(
          { err: failure },
          'use, latency and cooldowns of deployments are counted by this process alone: Redis does not answer',
        );
    },
  });
  shutdown.add('shared counts of deployments', () => exchange.stop());
}

/** Passes the record of a call to each of its receivers, in this order. */
function recordOf(
  { records, guardrailUse, teamLogging, bus }: GatewayParts,
  modelCalls: CallMetrics | null,
): (call: CallRecord) => void {
  return (call) => {
    if (call.spend.guardrails !== undefined) guardrailUse.count(call);
    records.record(call);
    teamLogging.record(call);
    modelCalls?.record(call);
    if (bus.subscriberCount() > 0) bus.publish('spend', call.spend);
  };
}

/** Adapters of providers, and the forwarder of pass-through calls, with the same cloud credentials. */
function composeUpstreamAdapters({ settings, log }: StartContext, { http, calibrations }: GatewayParts) {
  const googleTokens = createGoogleTokens();
  const awsAccounts = createAwsAccounts({
    refused: (about) => log.warn(about, 'AWS gave no credentials for a deployment'),
  });
  return {
    providers: createProviders({
      http,
      sockets: webSocketClient,
      googleTokens,
      awsAccounts,
      clock: systemClock,
      temperatures: settings.calibrateDecisions ? calibrations : UNCALIBRATED,
    }),
    forwarder: createForwarder(http, {
      google: googleTokens,
      aws: awsAccounts,
      issued: createIssuedTokens(http, Date.now),
    }),
  };
}

/** Connections to MCP servers. They end before the HTTP client. */
function composeMcpUpstream({ scheduler, shutdown }: StartContext, { http, mcpServers }: GatewayParts) {
  const upstream = createMcpUpstream({ http, clock: systemClock, scheduler, servers: () => mcpServers.servers() });
  shutdown.add('connections to MCP servers', () => upstream.close());
  return upstream;
}

/**
 * The compiled guardrails, which check texts. `guardrails` are their definitions. Decision models are called through
 * the gateway.
 */
function composeActiveGuardrails(
  { log }: StartContext,
  { http, guardrails, toolPolicies }: GatewayParts,
  gateway: () => ReturnType<typeof createGateway>,
) {
  const active = createActiveGuardrails({
    directory: guardrails,
    services: {
      openai_moderation: openAiModeration(http),
      generic_guardrail_api: genericGuardrailApi(http),
      presidio: presidio(http),
      decision_model: decisionModel(createAskDecisions(gateway)),
      tool_policy: () => toolPolicyGuardrail(toolPolicies),
    },
    broken: (about) => log.warn(about, 'a guardrail cannot run: the calls that it checks are refused'),
  });
  guardrails.refuseFaulty((definition) => active.faultOf(definition));
  return active;
}

/** Rules of calls: those of the settings, and those that a reload changes. */
const rulesOf = ({ settings }: StartContext, { configuration, fallbacks }: GatewayParts) => ({
  routing: fallbacks.policy,
  costAdjustments: configuration.costAdjustments,
  providerBudgets: configuration.providerBudgets,
  globalBudget: configuration.globalBudget,
  throttleFraction: configuration.throttleFraction,
  blocksUnpriced: configuration.blocksUnpriced,
  requiredParams: configuration.requiredParams,
  capturePrompts: settings.capturePrompts,
  alwaysStreamUsage: settings.alwaysStreamUsage,
  budgetErrorKind: settings.budgetErrorKind,
  clientCredentials: settings.callers.clientCredentials,
  reportsTries: settings.routerDebugInErrors,
  checksFallbackBudgets: settings.enforceFallbackBudget,
  reservesCosts: settings.reservesCosts,
  parallelOfAll: settings.callers.parallelOfAll,
});

/** The webhook of budget alerts; null where none is configured. */
function composeWebhook({ settings, log, shutdown }: StartContext, http: UpstreamClient): BudgetWebhook | null {
  if (settings.budgetAlertUrl === null) return null;
  const webhook = createBudgetWebhook({ http, url: settings.budgetAlertUrl, log });
  shutdown.add('budget alerts', () => webhook.drained());
  return webhook;
}

const composeCallMetrics = (deployments: DeploymentSource): CallMetrics =>
  createCallMetrics((id) => deployments.current().find((one) => one.id === id)?.modelGroup ?? null);
