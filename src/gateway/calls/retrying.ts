import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { DomainError, RouteBudgetExceeded, UpstreamFailed } from '../../domain/errors.ts';
import { type Fallback, isTooLong } from '../../domain/inference/retries.ts';
import { mayCall, modelNotAvailable, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { isRefusedContent } from '../../domain/routing/failure-class.ts';
import { fallbacksAfter } from '../../domain/routing/fallback-rule.ts';
import { maxRetries, mayFailOver, retryDelayMs } from '../../domain/routing/retry-rule.ts';
import { MAX_FALLBACKS } from '../../domain/routing/routing-policy.ts';
import type { CallTarget } from '../accounting/call-account.ts';
import { withTarget } from '../admission/key-rules.ts';
import { reserveAffordable } from './affordable.ts';
import type { OpenCall } from './call.ts';
import { asFallback, fallbackText } from './fallback-request.ts';
import { allCoolingDown } from '../routing/cooldowns.ts';
import type { BeforeSend } from '../guardrails/guarded-call.ts';
import { isGuardrailFailure } from '../guardrails/guarding.ts';
import type { GatewayCall, Tries } from '../gateway.ts';
import { inRegion, permittedFor, routerOfTeam } from '../routing/permitted-router.ts';
import { type Route, type Router, unknownModel } from '../routing/route.ts';
import type { RetryTools, Retrying, RoutedCall } from './retry-tools.ts';

/** Counts of one call so far. */
type MutableTries = { -readonly [Member in keyof Tries]: Tries[Member] };

/** One model of a call: its first route, and the model group with the alternatives. */
interface ModelTarget {
  readonly request: ModelRequest;
  readonly first: Route;
  /** Model whose other deployments are alternatives; null where the call is bound to one deployment. */
  readonly group: string | null;
}

/** An attempt that failed. */
interface FailedAttempt extends Pick<ModelTarget, 'request' | 'group'> {
  readonly route: Route;
  /** Deployment of `route`, with the timeout and the credentials of the request. */
  readonly deployment: Deployment;
  /**
   * Ids of the deployments that were called for this model: one for each attempt, in order. They are ids of routes: the
   * credentials of a caller change the id of the called deployment.
   */
  readonly called: readonly string[];
}

/** A running call. */
interface Sending {
  readonly call: OpenCall;
  readonly signal: AbortSignal;
  readonly beforeSend: BeforeSend | undefined;
  readonly key: VirtualKey | null;
  /** The request for the first model. */
  readonly request: ModelRequest;
  readonly tries: MutableTries;
  /** The target of the latest attempt. */
  target: CallTarget;
}

export function createRetrying(tools: RetryTools): Retrying {
  const { cooldowns, forRequest, hasRouteBudget, reportsTries } = tools;
  const groupOfId = (id: string, key: VirtualKey | null): string | undefined =>
    routerOfTeam(tools.routeOf, key).byId(id)?.deployment.modelGroup;
  /** The model group of a model name or deployment id. An alias is a group. */
  const groupOf = (name: string, key: VirtualKey | null): string => groupOfId(name, key) ?? name;
  /** The request for a fallback, whose alias is replaced. */
  function fallbackRequestOf(request: ModelRequest, fallback: Fallback, key: VirtualKey | null): ModelRequest {
    const group = groupOfId(fallback.model, key);
    if (group !== undefined) return asFallback(request, fallback, group);
    return withTarget(asFallback(request, fallback, fallback.model), tools.targetOf(fallback.model));
  }

  /** First route and alternatives of a fallback. `name` is a model or the id of a deployment. */
  function targetOf(
    name: string,
    { deploymentId }: ModelRequest,
    routeOf: Router,
  ): Omit<ModelTarget, 'request'> | null {
    if (deploymentId !== undefined) {
      // The request refers to an object that one upstream stores: only that account can serve it.
      const pinned = routeOf(routeOf.byId(name)?.deployment.modelGroup ?? name, deploymentId);
      return pinned && { first: pinned, group: null };
    }
    const deployed = routeOf.byId(name);
    if (deployed !== null) return { first: deployed, group: null };
    const first = routeOf(name);
    return first && { first, group: name };
  }

  const isCooling = ({ deployment }: Route): boolean => cooldowns.remainingMs(deployment.id) > 0;
  /** The routes that the key of a call permits, in the order of the strategy. */
  function permittedRoutes({ call, key, request }: Pick<Sending, 'call' | 'key' | 'request'>): Router {
    const permitted = inRegion(permittedFor(tools.routeOf, key), request.region);
    return tools.selection.of({ key, request, openAt: call.deployment().id }, permitted);
  }
  const membersOf = (group: string | null, sending: Sending): readonly Route[] =>
    group === null ? [] : permittedRoutes(sending).all(group);

  /** Calls deployments of one model until one answers. Throws the last failure, or AllCoolingDown. */
  async function sendTo({ request: original, first, group }: ModelTarget, sending: Sending): Promise<GatewayCall> {
    const { call, signal, beforeSend } = sending;
    let request = original;
    let next = first;
    const called: string[] = [];
    if (first.refusal !== undefined) throw first.refusal;
    // The router selects a cooling deployment only if all of its group are cooling. Without a group, it is called.
    if (isCooling(first)) {
      const all = membersOf(group, sending);
      if (all.length > 0) throw allCoolingDown(request.model, all, cooldowns);
    }
    for (;;) {
      const deployment = forRequest(next.deployment, request);
      if (beforeSend !== undefined) request = await beforeSend(deployment, request);
      sending.target = { request, deployment };
      const refusal = tools.selection.parallelRefusal(sending.key, deployment);
      if (refusal !== null) throw refusal;
      let exchange: Exchange;
      try {
        call.sent();
        exchange = await next.provider.send(deployment, asSent(request), signal);
      } catch (failure) {
        called.push(next.deployment.id);
        next = await nextAfter(failure, { route: next, deployment, request, group, called }, sending);
        continue;
      }
      if (usesConfiguredCredentials(deployment, next)) {
        cooldowns.succeeded(deployment);
        tools.selection.succeeded(sending.key, request, deployment);
      }
      return call.answered(exchange, sending.tries);
    }
  }

  /** The route of the next retry, after its delay. Throws `failure` on abort, and when no route may be called. */
  async function nextAfter(failure: unknown, attempt: FailedAttempt, sending: Sending): Promise<Route> {
    const { route, deployment, request, group, called } = attempt;
    const { call, signal, tries } = sending;
    const retriesDone = called.length - 1;
    const all = membersOf(group, sending);
    if (signal.aborted) throw failure;
    if (usesConfiguredCredentials(deployment, route) && !isCallersTimeout(failure, request))
      cooldowns.failed(deployment, failure, { isAlone: all.length <= 1 });
    const available = all.filter((one) => !isCooling(one));
    const fresh = available.find((one) => !called.includes(one.deployment.id));
    const policy = tools.policyOf(sending.key);
    const retryLimit = maxRetries(failure, {
      requested: request.retries?.count ?? null,
      group: request.model,
      own: deployment.routing?.retries,
      elsewhere: fresh !== undefined,
      policy,
    });
    const allCoolDown = available.length === 0 && all.length > 0;
    const mayRetry =
      retriesDone < retryLimit ||
      isForNextLevel(failure, { fresh, route, request }) ||
      (fresh !== undefined &&
        request.retries?.withoutFallbacks !== true &&
        mayFailOver(failure, { group: request.model, retriesDone, policy }));
    if (!mayRetry || allCoolDown) {
      if (reportsTries && retryLimit > 0 && failure instanceof DomainError)
        failure.message += ` LiteLLM Retried: ${retriesDone} times, LiteLLM Max Retries: ${retryLimit}`;
      throw failure;
    }
    // No delay for a deployment that was not called yet.
    if (fresh === undefined) await tools.pause(delayMs(failure, retriesDone, sending.key), signal);
    let next = fresh ?? available.find((one) => one.deployment.id !== route.deployment.id) ?? route;
    if (hasRouteBudget(next.deployment))
      next = await affordableAfter(failure, { next, available, request, called }, sending);
    tries.retries += 1;
    tries.maxRetries = retryLimit;
    call.continueAt({ request, deployment: forRequest(next.deployment, request) }, failure);
    return next;
  }

  /** The route of a retry, to which the reservation moves. Throws `failure` when the reservation is refused. */
  async function affordableAfter(
    failure: unknown,
    {
      next,
      available,
      request,
      called,
    }: {
      readonly next: Route;
      readonly available: readonly Route[];
      readonly request: ModelRequest;
      readonly called: readonly string[];
    },
    { call }: Sending,
  ): Promise<Route> {
    const others = available.filter((one) => one.deployment.id !== next.deployment.id);
    const wasCalled = (one: Route): boolean => called.includes(one.deployment.id);
    const routes = [next, ...others.filter((one) => !wasCalled(one)), ...others.filter(wasCalled)] as const;
    try {
      return await reserveAffordable(call, { request, routes, forRequest });
    } catch (refusal) {
      throw refusal instanceof DomainError ? failure : refusal;
    }
  }

  /** The selected deployment, then the other deployments of its model that do not cool down. */
  function routesToTry(first: Route, group: string | null, routeOf: Router): readonly [Route, ...Route[]] {
    const all = group === null ? [] : routeOf.all(group);
    const others = all.filter((one) => one.deployment.id !== first.deployment.id && !isCooling(one));
    return [first, ...others];
  }

  /** Reserves a fallback at one of its deployments. Returns the error of a refused reservation. */
  async function reserveAt(
    call: OpenCall,
    { first, group, request }: ModelTarget,
    routeOf: Router,
  ): Promise<Route | DomainError> {
    try {
      return await reserveAffordable(call, { request, routes: routesToTry(first, group, routeOf), forRequest });
    } catch (failure) {
      if (failure instanceof DomainError) return failure;
      throw failure;
    }
  }

  const delayMs = (failure: unknown, nth: number, key: VirtualKey | null): number =>
    retryDelayMs(failure, { nth, leastSeconds: tools.policyOf(key).retryAfterSeconds, random: tools.random() });

  /** Fallbacks after a failure. With `checksAccess` of the policy, only models that the key may call. */
  function targetsAfter(
    failure: DomainError,
    { key, request }: Pick<RoutedCall, 'key' | 'request'>,
  ): readonly Fallback[] {
    const policy = tools.policyOf(key).fallbacks;
    const targets = fallbacksAfter(failure, request, policy);
    return policy.checksAccess ? targets.filter(({ model }) => mayCall(key, groupOf(model, key))) : targets;
  }

  /** Sends a call to its fallbacks after the first model failed. Throws as `Retrying.send` when none answers. */
  async function fallBack(sending: Sending, failureOfFirst: unknown): Promise<GatewayCall> {
    const { call, key, request, tries, signal } = sending;
    const routeOf = permittedRoutes(sending);
    const failures: DomainError[] = [];
    /** Adds a failure after which the next fallback is called. Throws any other failure. */
    const collect = (failure: unknown): DomainError => {
      if (signal.aborted || !(failure instanceof DomainError) || isGuardrailFailure(failure)) throw failure;
      failures.push(failure);
      return failure;
    };
    const firstFailure = collect(failureOfFirst);
    const failedAt = sending.target;
    const targets = targetsAfter(firstFailure, { key, request });
    if (targets.length === 0) throw firstFailure;
    let budgetFailure: DomainError | null = null;
    for (const fallback of targets) {
      try {
        const fallbackRequest = fallbackRequestOf(request, fallback, key);
        const found = targetOf(fallback.model, request, routeOf);
        if (found === null) throw unknownModel(request.endpoint.path, fallback.model);
        if (found.first.refusal !== undefined) throw found.first.refusal;
        const reserved = tools.checksFallbackBudgets
          ? await reserveAt(call, { request: fallbackRequest, ...found }, routeOf)
          : found.first;
        budgetFailure = reserved instanceof DomainError ? reserved : null;
        if (reserved instanceof DomainError) continue;
        call.continueAt(
          { request: fallbackRequest, deployment: forRequest(reserved.deployment, fallbackRequest) },
          failures.at(-1),
        );
        tries.fallbacks += 1;
        tries.maxFallbacks ??= tools.policyOf(key).fallbacks.most;
        return await sendTo({ request: fallbackRequest, ...found, first: reserved }, sending);
      } catch (failure) {
        collect(failure);
      }
    }
    const last = failures.at(-1);
    call.allDeploymentsFailed(failedAt, last);
    if (tries.fallbacks === 0 && budgetFailure !== null) throw budgetFailure;
    if (reportsTries) firstFailure.message += fallbackText(request.model, targets, last);
    throw firstFailure;
  }

  return {
    assertCallable(key, { endpoint }, { fallbacks, contextFallbacks }) {
      const routeOf = permittedFor(tools.routeOf, key);
      for (const name of [...fallbacks.map(({ model }) => model), ...contextFallbacks.values()]) {
        if (!mayCall(key, groupOf(name, key))) throw modelNotAvailable(name);
        if (routeOf.byId(name) === null && routeOf.all(name).length === 0)
          throw unknownModel(endpoint.path, name, 'fallback');
      }
    },
    reserve(call, { key, request, route }) {
      const deployment = call.deployment();
      if (!hasRouteBudget(deployment)) {
        const reserving = call.reserve({ deployment, request, model: request.model });
        return reserving instanceof Promise ? reserving.then(() => route) : route;
      }
      const group = request.deploymentId === undefined ? (request.alias ?? request.model) : null;
      const routes = routesToTry(route, group, permittedRoutes({ call, key, request }));
      return reserveAffordable(call, { request, routes, forRequest }).catch((failure: unknown) => {
        if (failure instanceof RouteBudgetExceeded) return failure;
        throw failure;
      });
    },
    send(call, { key, request, route, signal, beforeSend }) {
      const { retries } = request;
      const hasOwnFallbacks = retries !== undefined && retries.fallbacks.length + retries.contextFallbacks.size > 0;
      const sending: Sending = {
        call,
        signal,
        beforeSend,
        key,
        request,
        tries: { retries: 0, maxRetries: null, fallbacks: 0, maxFallbacks: hasOwnFallbacks ? MAX_FALLBACKS : null },
        target: { request, deployment: route instanceof DomainError ? call.deployment() : route.deployment },
      };
      if (route instanceof DomainError) return fallBack(sending, route);
      const group = request.deploymentId === undefined ? (request.alias ?? request.model) : null;
      return sendTo({ request, first: route, group }, sending).catch((failure: unknown) => fallBack(sending, failure));
    },
  };
}

/**
 * Whether a deployment that was not called has a later `order` than the failed one. It is called as a fallback, also
 * without retries.
 */
function isForNextLevel(
  failure: unknown,
  {
    fresh,
    route,
    request,
  }: { readonly fresh: Route | undefined; readonly route: Route; readonly request: ModelRequest },
): boolean {
  if (!(failure instanceof UpstreamFailed) || isTooLong(failure) || isRefusedContent(failure)) return false;
  if (request.retries?.withoutFallbacks === true) return false;
  return (fresh?.deployment.selection?.order ?? -Infinity) > (route.deployment.selection?.order ?? Infinity);
}

/** Whether the configured credentials were used: credentials of the client change the id. */
const usesConfiguredCredentials = (called: Deployment, { deployment }: Route): boolean => called.id === deployment.id;

/** A request with the model name that its answer gets. */
const asSent = (request: ModelRequest): ModelRequest =>
  request.answerModel === undefined ? request : { ...request, model: request.answerModel };

/** Whether a call failed by a timeout that its request set. */
const isCallersTimeout = (failure: unknown, { timeoutSeconds }: ModelRequest): boolean =>
  timeoutSeconds !== undefined && failure instanceof UpstreamFailed && failure.timedOut;
