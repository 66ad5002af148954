import type { Bus } from '../domain/bus.ts';
import type { CallRecord } from '../domain/calls/call-record.ts';
import type { CatalogSource } from '../domain/catalog/catalog.ts';
import { UNCALIBRATED } from '../domain/decisions/calibration.ts';
import type { DeploymentSource } from '../domain/deployments/deployment-source.ts';
import type { FallbackRegistry } from '../domain/fallbacks/fallback.ts';
import type { Guardrails } from '../domain/guardrails/guardrails.ts';
import { publishChanges } from '../domain/traces/publish-changes.ts';
import { createGateway } from '../gateway/create-gateway.ts';
import { createAskDecisions } from '../gateway/guardrails/guardrail-decisions.ts';
import { withTokenCalls } from '../gateway/calls/token-calls.ts';
import { createBudgetAlerts } from '../gateway/admission/budget-alerts.ts';
import { createCountedBudgets } from '../gateway/admission/counted-limits.ts';
import { createLabelBudgets } from '../gateway/admission/label-budgets.ts';
import type { Stores } from '../persistence/stores.ts';
import { createForwarder } from '../providers/forwarding.ts';
import { createProviders } from '../providers/providers.ts';
import { createGuardrailUseCounter } from '../recording/guardrail-use.ts';
import { createActivityCounter } from '../recording/gateway-activity.ts';
import { createCallRecords } from '../recording/call-records.ts';
import { openSpanExport } from '../recording/span-export.ts';
import { createTeamLogging } from '../recording/team-logging.ts';
import { pause, systemClock } from '../runtime/clock.ts';
import { type BudgetWebhook, createBudgetWebhook } from '../runtime/alerts/budget-webhook.ts';
import { createCalibrations } from '../runtime/decisions/calibrations.ts';
import { createDecisionQueue } from '../runtime/decisions/decision-queue.ts';
import { createHealthCheckQueue } from '../runtime/deployments/health-check-queue.ts';
import { createAwsAccounts } from '../runtime/credentials/aws-accounts.ts';
import { callbackSecrets } from '../runtime/credentials/sealed-texts.ts';
import { createGoogleTokens } from '../runtime/credentials/google-tokens.ts';
import { createIssuedTokens } from '../runtime/credentials/issued-tokens.ts';
import { decisionModel } from '../runtime/guardrails/decision-model.ts';
import { genericGuardrailApi } from '../runtime/guardrails/generic-api.ts';
import { openAiModeration } from '../runtime/guardrails/openai-moderation.ts';
import { presidio } from '../runtime/guardrails/presidio.ts';
import { createActiveGuardrails } from '../runtime/guardrails/active-guardrails.ts';
import type { UpstreamClient } from '../runtime/http-client/client.ts';
import { openUpstreamClient } from '../runtime/http-client/open-client.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createCallerAddresses } from '../runtime/network/caller-addresses.ts';
import { webSocketClient } from '../runtime/network/web-sockets.ts';
import { createResponseQueue } from '../runtime/responses/response-queue.ts';
import type { RunningConfiguration } from '../runtime/stored-settings/configuration.ts';
import { type CallMetrics, createCallMetrics } from '../runtime/telemetry/call-metrics.ts';
import type { AdmissionParts } from './compose-admission.ts';
import type { StartContext } from './context.ts';

/** How long the last spans may take to their collector, in ms. */
const EXPORT_DRAIN_MS = 1_500;

/** The HTTP client of all upstreams. */
export async function composeUpstreams({ settings, shutdown }: StartContext): Promise<UpstreamClient> {
  const http = await openUpstreamClient(settings.upstream, createCallerAddresses(settings.callers.allowedHosts));
  shutdown.add('upstream connections', () => http.close());
  return http;
}

/** Maximum wait of a read for records that are not stored yet, in ms. */
const READABLE_MS = 1_000;

/** Where calls and answers are recorded: the stores, and an external collector where one is configured. */
export function composeRecords(
  { settings, log, shutdown }: StartContext,
  { stores, bus, http }: { readonly stores: Stores; readonly bus: Bus; readonly http: UpstreamClient },
) {
  const spanExport = openSpanExport(settings, http, log);
  const teamLogging = createTeamLogging({
    teams: stores.teams,
    secrets: callbackSecrets(settings.saltSecrets),
    shared: spanExport,
    http,
    clock: systemClock,
    log,
  });
  shutdown.add('span export', () => teamLogging.drain(EXPORT_DRAIN_MS));
  const records = createCallRecords({
    stores: stores.callSpans === null ? [stores.calls] : [stores.calls, stores.callSpans],
    watched: () => bus.subscriberCount() > 0,
    async changed(summaries) {
      if (bus.subscriberCount() > 0) publishChanges(bus, await summaries());
    },
    log,
  });
  shutdown.add('unfolding of records', () => records.stop());
  const readable = (): Promise<boolean> => records.caughtUp(READABLE_MS);
  const guardrailUse = createGuardrailUseCounter({
    process: randomIds.uuid(),
    store: stores.guardrailUse,
    clock: systemClock,
    everyMs: settings.activityWriteSeconds * 1000,
    failed: (error) => log.warn({ err: error }, 'counts of guardrails could not be stored; trying again'),
  });
  const responseQueue = createResponseQueue({
    store: stores.responses,
    masterKey: settings.masterKey,
    keeps: settings.storeResponses,
    log,
  });
  const activity = createActivityCounter({
    process: randomIds.uuid(),
    store: stores.gatewayActivity,
    clock: systemClock,
    everyMs: settings.activityWriteSeconds * 1000,
    moved(counts) {
      if (bus.subscriberCount() > 0) bus.publish('activity', { at: systemClock.now(), counts });
    },
    failed: (error) => log.warn({ err: error }, 'counts of requests could not be stored; trying again'),
  });
  const decisionQueue = createDecisionQueue({ store: stores.decisions, log });
  const healthCheckQueue = createHealthCheckQueue({ store: stores.healthChecks, log });
  const calibrations = createCalibrations(stores.decisionOutcomes);
  return {
    spanExport,
    teamLogging,
    records,
    readable,
    countedBudgets: createCountedBudgets(stores.spendReports, systemClock, readable),
    responseQueue,
    activity,
    guardrailUse,
    decisionQueue,
    healthCheckQueue,
    calibrations,
  };
}

/** Adds the commit of waiting call records to the shutdown. */
export function flushRecords(
  { log, shutdown }: StartContext,
  {
    records,
    responseQueue,
    activity,
    guardrailUse,
    decisionQueue,
    healthCheckQueue,
  }: Pick<
    ReturnType<typeof composeRecords>,
    'records' | 'responseQueue' | 'activity' | 'guardrailUse' | 'decisionQueue' | 'healthCheckQueue'
  >,
): void {
  shutdown.add('gateway activity', () => {
    activity.stop();
    return activity.flush();
  });
  shutdown.add('use of guardrails', () => {
    guardrailUse.stop();
    return guardrailUse.flush();
  });
  shutdown.add('decisions', () =>
    decisionQueue.flush().catch((error: unknown) => log.error({ err: error }, 'last decisions were lost')),
  );
  shutdown.add('health checks', () =>
    healthCheckQueue.flush().catch((error: unknown) => log.error({ err: error }, 'last health checks were lost')),
  );
  shutdown.add('responses', () =>
    responseQueue.flush().catch((error: unknown) => log.error({ err: error }, 'last responses were lost')),
  );
  shutdown.add('records', () =>
    records.flush().catch((error: unknown) => log.error({ err: error }, 'last gateway records were lost')),
  );
}

interface GatewayParts extends ReturnType<typeof composeRecords>, AdmissionParts {
  readonly stores: Stores;
  readonly http: UpstreamClient;
  readonly bus: Bus;
  readonly catalog: CatalogSource;
  readonly deployments: DeploymentSource;
  readonly configuration: RunningConfiguration;
  readonly fallbacks: Pick<FallbackRegistry, 'policy'>;
  readonly guardrails: Pick<Guardrails, 'definitions' | 'checkWith'>;
}

/** The gateway over the configured deployments and every provider adapter. */
export function composeGateway(context: StartContext, parts: GatewayParts) {
  const { settings, log } = context;
  const { records, guardrailUse, teamLogging, bus, admission, rateLimits } = parts;
  const modelCalls = settings.modelMetrics ? composeCallMetrics(parts.deployments) : null;
  const labelBudgets = createLabelBudgets(parts.stores, parts.countedBudgets, systemClock, settings.endUserBudgetId);
  const googleTokens = createGoogleTokens();
  const webhook = composeWebhook(context, parts.http);
  const awsAccounts = createAwsAccounts({
    refused: (about) => log.warn(about, 'AWS gave no credentials for a deployment'),
  });
  const activeGuardrails = createActiveGuardrails({
    directory: parts.guardrails,
    services: {
      openai_moderation: openAiModeration(parts.http),
      generic_guardrail_api: genericGuardrailApi(parts.http),
      presidio: presidio(parts.http),
      decision_model: decisionModel(createAskDecisions(() => gateway)),
    },
    broken: (about) => log.warn(about, 'a guardrail cannot run: its calls are refused'),
  });
  parts.guardrails.checkWith((definition) => activeGuardrails.faultOf(definition));

  /** Where the record of a call goes, in this order. */
  function record(call: CallRecord): void {
    if (call.spend.guardrails !== undefined) guardrailUse.count(call);
    records.record(call);
    teamLogging.record(call);
    modelCalls?.record(call);
    if (bus.subscriberCount() > 0) bus.publish('spend', call.spend);
  }

  const gateway: ReturnType<typeof createGateway> = createGateway({
    deployments: parts.deployments,
    providers: createProviders({
      http: parts.http,
      sockets: webSocketClient,
      googleTokens,
      awsAccounts,
      clock: systemClock,
      temperatures: settings.calibrateDecisions ? parts.calibrations : UNCALIBRATED,
    }),
    forwarder: createForwarder(parts.http, {
      google: googleTokens,
      aws: awsAccounts,
      issued: createIssuedTokens(parts.http, Date.now),
    }),
    catalog: parts.catalog,
    recorder: { record },
    budgetAlerts: createBudgetAlerts(systemClock, (alert) => {
      bus.publish('budgetAlert', alert);
      webhook?.send(alert);
    }),
    guardrails: activeGuardrails,
    keepHealthCheck: (check) => parts.healthCheckQueue.keep(check),
    admission,
    labelBudgets,
    rateLimits,
    clock: systemClock,
    ids: randomIds,
    pause,
    random: Math.random,
    routing: parts.fallbacks.policy,
    costAdjustments: parts.configuration.costAdjustments,
    providerBudgets: parts.configuration.providerBudgets,
    globalBudget: parts.configuration.globalBudget,
    throttlePart: parts.configuration.throttlePart,
    blocksUnpriced: parts.configuration.blocksUnpriced,
    demandedParams: parts.configuration.demandedParams,
    capturePrompts: settings.capturePrompts,
    alwaysStreamUsage: settings.alwaysStreamUsage,
    budgetErrorKind: settings.budgetErrorKind,
    clientCredentials: settings.callers.clientCredentials,
    reportsTries: settings.routerDebugInErrors,
    checksFallbackBudgets: settings.enforceFallbackBudget,
  });
  return { gateway: withTokenCalls(gateway), activeGuardrails, labelBudgets, modelCalls, webhook };
}

/** The webhook of budget alerts; null where none is configured. */
function composeWebhook({ settings, log, shutdown }: StartContext, http: UpstreamClient): BudgetWebhook | null {
  if (settings.budgetAlertUrl === null) return null;
  const webhook = createBudgetWebhook({ http, url: settings.budgetAlertUrl, log });
  shutdown.add('budget alerts', () => webhook.drained());
  return webhook;
}

const composeCallMetrics = (deployments: DeploymentSource): CallMetrics =>
  createCallMetrics((id) => deployments.current().find((one) => one.id === id)?.modelGroup ?? null);
