import type { Admission } from '../domain/admission/admission.ts';
import type { RateLimits } from '../domain/admission/rate-limits.ts';
import type { CatalogSource } from '../domain/catalog/catalog.ts';
import type { ModelRequest } from '../domain/chat/chat.ts';
import type { Provider, Deployment } from '../domain/chat/provider.ts';
import { assertNotBlocked, type DeploymentSource } from '../domain/deployments/deployment-source.ts';
import type { HealthCheck } from '../domain/deployments/health-check.ts';
import { withClientCredentials } from '../domain/deployments/client-credentials.ts';
import type { Caller } from '../domain/caller.ts';
import type { Clock, Ids } from '../domain/clock.ts';
import { type BudgetErrorKind, DomainError, UnknownModel } from '../domain/errors.ts';
import type { RequiredParams } from '../domain/keys/enforced-params.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';
import type { Forwarder } from '../domain/pass-through/forwarded.ts';
import type { McpUpstream } from '../domain/mcp/mcp-upstream.ts';
import { modelNamed } from '../domain/routing/model-aliases.ts';
import { DEFAULT_ROUTING, type RoutingPolicy } from '../domain/routing/routing-policy.ts';
import { adjustedCost, type CostAdjustments, NO_ADJUSTMENTS } from '../domain/settings/cost-adjustments.ts';
import { MAX_VALUE_BYTES } from '../domain/traces/truncate.ts';
import type { AnswerCache } from '../domain/response-cache/response-cache.ts';
import { createAutoRouting } from './auto-routers/auto-routing.ts';
import type { BudgetAlerts } from './admission/budget-alerts.ts';
import { createBatchReserver } from './admission/batch-limits.ts';
import { withBudgetFallback, hasFallbacks } from './admission/budget-fallbacks.ts';
import { createBudgets } from './admission/budgets.ts';
import {
  assertKeyAllows,
  createRequiredParamCheck,
  requestOfKey,
  withAliasResolved,
  withTarget,
} from './admission/key-rules.ts';
import type { CallTools, OpenCall } from './calls/call.ts';
import { afterLimits, expectedCostOf, type RoutedRequest } from './calls/call-steps.ts';
import { createModelCall } from './calls/model-call.ts';
import type { ProviderBudgets, RouteBudget } from '../domain/budgets/route-budget.ts';
import { createCooldowns, skipCoolingDown } from './routing/cooldowns.ts';
import type { LabelBudgets } from './admission/label-budgets.ts';
import { createCallLimits } from './admission/rate-limits.ts';
import { createRealtime } from './sessions/create-realtime.ts';
import { createCostExpectations, isBilledByTokensAlone } from './admission/expected-cost.ts';
import { createForwarding } from './calls/forwarding.ts';
import type { CallRecorder, EveryGateway } from './gateway.ts';
import { createMcpGateway } from './mcp/create-mcp-gateway.ts';
import { NO_MCP_UPSTREAM } from './mcp/no-upstream.ts';
import { createCachedSend, type DeltaReader } from './response-cache/cached-send.ts';
import { createHealthTracker } from './routing/health.ts';
import { createMirroring } from './calls/mirroring.ts';
import { createPassing, type LaterCostOptions } from './calls/passing.ts';
import { createLocalCounts } from './routing/local-counts.ts';
import { inRegion, isPriced, permittedFor, pricedOnly } from './routing/permitted-router.ts';
import { createRegionBinding } from './routing/customer-region.ts';
import { createSelection } from './routing/selection.ts';
import { createPricer, isFreeOfCharge } from './accounting/price.ts';
import { createPreviewGateway } from './calls/preview.ts';
import { createProbing } from './calls/probing.ts';
import { createRetrying } from './calls/retrying.ts';
import { createGuardOf } from './guardrails/guard-of-call.ts';
import { createGuards, type GuardOptions } from './guardrails/guarding.ts';
import { createLiveRouter, mockOf, namedIn, type Route, unknownModel } from './routing/route.ts';
import { withTimeout } from './calls/timeouts.ts';
import { createTokenGateway } from './calls/token-count.ts';

/** Ports and settings of the gateway. */
export interface GatewayOptions extends GuardOptions, LaterCostOptions {
  readonly deployments: DeploymentSource;
  readonly providers: readonly Provider[];
  /** Sends the requests of pass-through paths. */
  readonly forwarder: Forwarder;
  /** Sends requests to MCP servers. When absent, no server is reachable. */
  readonly mcpUpstream?: McpUpstream;
  readonly catalog: CatalogSource;
  readonly recorder: CallRecorder;
  /** Reserves and counts the costs of calls in budgets. */
  readonly admission: Admission;
  /** Budgets of tags and end users; none when absent. */
  readonly labelBudgets?: Pick<LabelBudgets, 'of'>;
  /** Budgets of providers, read for each call; none when absent. */
  readonly providerBudgets?: () => ProviderBudgets;
  /** The budget of all calls, read for each call; none when absent. */
  readonly globalBudget?: () => RouteBudget | null;
  /** Fraction of its rate limits that a key with a used-up budget keeps. Null or absent: its calls are refused. */
  readonly throttleFraction?: () => number | null;
  /** Whether calls of models without a price are refused, read for each call; false when absent. */
  readonly blocksUnpriced?: () => boolean;
  /** Parameters that calls must have, read for each call; none when absent. */
  readonly requiredParams?: () => RequiredParams;
  /** Receives refusals by budgets and crossed soft budgets; none when absent. */
  readonly budgetAlerts?: BudgetAlerts;
  /** Counts calls in limits per minute and in limits of parallel calls. */
  readonly rateLimits: RateLimits;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Waits. When the signal fires first, rejects with its reason. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Whether prompts and answers are stored in the span of a call. */
  readonly capturePrompts: boolean;
  /** Whether every stream ends with its usage, also without a request for it. */
  readonly alwaysStreamUsage: boolean;
  /** Kind of the error for a used-up budget. */
  readonly budgetErrorKind: BudgetErrorKind;
  /** Whether callers may send their own upstream key and address even for deployments that do not allow it. */
  readonly clientCredentials: boolean;
  /** Whether error messages list retries and fallbacks. */
  readonly reportsTries: boolean;
  /** Whether each fallback reserves its own expected cost. If not, the reservation of the first model stays. */
  readonly checksFallbackBudgets: boolean;
  /** Whether calls reserve their expected cost; true when absent. */
  readonly reservesCosts?: boolean;
  /** Maximum number of open calls of all callers together; null or absent for no limit. */
  readonly parallelOfAll?: number | null;
  /** Configured routing for calls of a key, read for each call. The default when absent. */
  readonly routing?: (key: VirtualKey | null) => RoutingPolicy;
  /** Discounts and margins of providers, read for each call. None when absent. */
  readonly costAdjustments?: () => CostAdjustments;
  /** A number from 0 to 1, excluding 1, for the jitter of retry delays. */
  readonly random: () => number;
  /** SHA-256 of a text; the check `prompt_caching` needs it. */
  readonly digest?: (text: string) => string;
  /** Receives the results of probes that were sent; none when absent. */
  readonly keepHealthCheck?: (check: HealthCheck) => void;
  /** Cache of answers; none when absent. */
  readonly answerCache?: AnswerCache;
  /** Reads the deltas of a whole chat completion from its bytes, for cached answers. */
  readonly readDeltas?: DeltaReader;
}

/** Creates the gateway. Throws InvalidInput for a deployment of an unknown provider without an address. */
export function createGateway(options: GatewayOptions): EveryGateway {
  const { deployments, catalog, capturePrompts } = options;
  const currentCatalog = () => catalog.current();
  const policyOf = options.routing ?? ((_key: VirtualKey | null): RoutingPolicy => DEFAULT_ROUTING);
  const targetOf = (name: string): string => modelNamed(policyOf(null).aliases, name);
  const configured = createLiveRouter(deployments, options.providers, targetOf);
  const cooldowns = createCooldowns(options.clock, () => policyOf(null).cooldowns);
  const blocksUnpriced = options.blocksUnpriced ?? (() => false);
  const routeOf = pricedOnly(skipCoolingDown(configured, cooldowns), { isOn: blocksUnpriced, catalog: currentCatalog });
  const price = createPricer(currentCatalog, options.costAdjustments, () => options.clock.now());
  const expectations = createCostExpectations(price, currentCatalog);
  const budgets = createBudgets({
    ...options,
    expectations,
    isFree: (deployment, request) => isFreeOfCharge(price, deployment, isBilledByTokensAlone(request)),
    errorKind: options.budgetErrorKind,
    ...(options.budgetAlerts === undefined ? {} : { alerts: options.budgetAlerts }),
    now: () => options.clock.now(),
  });
  const health = createHealthTracker(options.clock);
  const selection = createSelection(options, { cooldowns, health, policyOf, targetOf });
  const tools: CallTools = {
    recorder: options.recorder,
    health,
    traffic: selection.traffic,
    clock: options.clock,
    ids: options.ids,
    capturePrompts,
    price,
    budgets,
    limits: createCallLimits(options.rateLimits, options.clock, options.labelBudgets, options.parallelOfAll),
  };

  /** Applies the timeout and the credentials of a request to a deployment. */
  function forRequest(deployment: Deployment, request: ModelRequest): Deployment {
    const { credentials = null } = request;
    const own =
      credentials === null ? deployment : withClientCredentials(deployment, request, options.clientCredentials);
    // Not every dialect has a format of answers. The answer of a judge is checked in any case.
    const called = request.judgeFor === undefined ? own : { ...own, dropParams: true };
    return withTimeout(called, request, policyOf(null).timeouts);
  }

  const retrying = createRetrying({
    routeOf,
    cooldowns,
    selection,
    policyOf,
    targetOf,
    forRequest,
    pause: options.pause,
    random: options.random,
    reportsTries: options.reportsTries,
    hasRouteBudget: budgets.hasRouteBudget,
    checksFallbackBudgets: options.checksFallbackBudgets,
  });

  const send = createCachedSend(retrying.send, { ...options, cache: options.answerCache });
  const requiredParams = createRequiredParamCheck(budgets, options.requiredParams);
  const bindToRegion = createRegionBinding(routeOf, options.labelBudgets);

  /** Route of a request's first attempt. Throws Forbidden, InvalidInput, and UnknownModel. */
  function routeFor({ key }: Caller, request: ModelRequest): Route {
    const { endpoint, model, deploymentId, retries, mockResponse } = request;
    // Check access before existence, so that a key cannot probe for model names.
    if (key !== null && request.judgeFor === undefined) assertKeyAllows(key, request);
    const permitted = inRegion(permittedFor(routeOf, key), request.region);
    const found = selection.of({ key, request }, permitted)(model, deploymentId);
    if (found === null) {
      assertNotBlocked(deployments, model, key?.teamId ?? null);
      throw requiredParams.missingParam(key, request)?.error ?? unknownModel(endpoint.path, model, namedIn(endpoint));
    }
    if (retries !== undefined) retrying.assertCallable(key, request, retries);
    return mockResponse === undefined ? found : mockOf(found, options.providers);
  }

  /** As `routeFor`. Reads stored changes for an unknown model, because another process may have just stored it. */
  function routeOrRead(caller: Caller, request: ModelRequest): Route | Promise<Route> {
    try {
      return routeFor(caller, request);
    } catch (failure) {
      if (!(failure instanceof UnknownModel)) throw failure;
      return routeAfterRead(caller, request);
    }
  }

  /** Routes again after a read of stored changes, even if it found none: a concurrent read may have found the model. */
  async function routeAfterRead(caller: Caller, request: ModelRequest): Promise<Route> {
    await deployments.readChanges().catch(() => false);
    return routeFor(caller, request);
  }

  /** The same request for another model, and its route. Null if the key may not call that model or its deployments. */
  async function requestForModel(caller: Caller, original: ModelRequest, model: string) {
    try {
      // The caller's own upstream credentials apply to the first model only.
      const replaced = { ...original, model, answerModel: undefined, alias: undefined, credentials: null };
      const resolved = caller.key === null ? replaced : withAliasResolved(caller.key, replaced);
      const request = await bindToRegion(caller, resolved);
      const route = routeFor(caller, request);
      return route.refusal === undefined ? { request: withTarget(request, targetOf(request.model)), route } : null;
    } catch (failure) {
      if (failure instanceof DomainError) return null;
      throw failure;
    }
  }

  /** A request with the alias, tags and owner of its key applied, and with the options of the gateway. */
  function requestOf({ key, keyHash: owner }: Caller, received: ModelRequest): ModelRequest {
    const request = key === null ? received : requestOfKey(key, received);
    const includeUsage = received.includeUsage || (options.alwaysStreamUsage && received.stream);
    return capturePrompts
      ? { ...request, includeUsage, owner, textLimit: MAX_VALUE_BYTES }
      : { ...request, includeUsage, owner };
  }

  /** Checks a call's required parameters, reserves its cost and counts it in its limits. Returns its reserved route. */
  function admitted(call: OpenCall, caller: Caller, { request, route }: RoutedRequest) {
    if (request.judgeFor !== undefined) return retrying.reserve(call, { key: caller.key, request, route });
    const at = { deployment: call.deployment(), request, model: request.model };
    const refusing = requiredParams.assertPresent(caller, at);
    if (refusing) return refusing;
    const reserving = retrying.reserve(call, { key: caller.key, request, route });
    if (!(reserving instanceof Promise)) return afterLimits(call, request, reserving);
    call.prepareLimit(request);
    return reserving.then((reserved) => afterLimits(call, request, reserved));
  }

  /** Binds a request to the region of its customer and finds its first route. Throws as `routeFor`. */
  function routed(caller: Caller, original: ModelRequest): RoutedRequest | Promise<RoutedRequest> {
    const bound = bindToRegion(caller, original);
    return bound instanceof Promise
      ? bound.then((request) => affordableRoute(caller, original, request))
      : affordableRoute(caller, original, bound);
  }

  function affordableRoute(caller: Caller, original: ModelRequest, bound: ModelRequest) {
    const route = routeOrRead(caller, bound);
    const request = withTarget(bound, targetOf(bound.model));
    return route instanceof Promise
      ? route.then((found) => affordable(caller, original, { request, route: found }))
      : affordable(caller, original, { request, route });
  }

  /** The given route, or that of a budget fallback if the key's budget for the model is used up. */
  function affordable(caller: Caller, original: ModelRequest, first: RoutedRequest) {
    const { key } = caller;
    if (key === null || original.judgeFor !== undefined || !hasFallbacks(key, first.request.model)) return first;
    return withBudgetFallback(budgets, key, first, (model) => requestForModel(caller, original, model));
  }

  const guards = createGuards(options);
  const guardOf = createGuardOf(guards, () => deployments.current());
  const routing = { routeOf, selection, retrying, targetOf, forRequest, providers: options.providers };
  const mirroring = createMirroring({ ...routing, tools, guardOf });
  const routers = createAutoRouting({
    ...options,
    ...routing,
    send,
    callModel: (caller, request, signal) => callModel(caller, request, signal),
    requiredParams,
    budgets,
  });
  const callModel = createModelCall({
    providers: options.providers,
    tools,
    routed: (caller, received) => routed(caller, requestOf(caller, received)),
    forRequest,
    guardOf,
    abortedCost: expectedCostOf(expectations),
    admitted,
    send,
    routers,
    mirroring,
  });

  return {
    ...createPassing({
      ...options,
      routeOf,
      selection,
      targetOf,
      tools,
      guards,
      catalog: currentCatalog,
      expectations,
      reserveBatch: createBatchReserver(options),
      adjusted: (cost, provider) => adjustedCost(cost, provider, options.costAdjustments?.() ?? NO_ADJUSTMENTS),
    }),
    ...createForwarding(options.forwarder, tools, {
      guards,
      isBlocked: (deployment) => blocksUnpriced() && !isPriced(deployment, catalog.current()),
    }),
    realtime: createRealtime({ routeOf, selection, targetOf, bindToRegion, tools }),
    mcp: createMcpGateway(options.mcpUpstream ?? NO_MCP_UPSTREAM, tools, guards),
    ...createTokenGateway({ ...routing, bindToRegion, guardOf }),
    ...createPreviewGateway(routing),
    ...createProbing({
      providers: options.providers,
      tools,
      catalog: currentCatalog,
      keep: options.keepHealthCheck ?? ((): void => undefined),
    }),
    deployments: () => deployments.current(),
    healthOf: (deploymentId) => health.of(deploymentId),
    cooldownMs: cooldowns.remainingMs,
    async admit(caller, received) {
      const original = caller.key === null ? received : requestOfKey(caller.key, received);
      const { request, route } = await routed(caller, original);
      const at = { deployment: forRequest(route.deployment, request), request, model: request.model };
      await requiredParams.assertPresent(caller, at);
      await budgets.check(caller, at);
    },
    admitKey: async (caller) => budgets.checkKey(caller),
    call: callModel,
    drainCopies: mirroring.drainCopies,
    routingCounts: createLocalCounts(selection.traffic, cooldowns),
  };
}
