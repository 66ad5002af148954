import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { DomainError, RouteBudgetExceeded, UpstreamFailed } from '../../domain/errors.ts';
import type { Fallback, Retries } from '../../domain/inference/retries.ts';
import { mayCall, modelNotAvailable, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { fallbacksAfter } from '../../domain/routing/fallback-rule.ts';
import { maxRetries, retryDelayMs } from '../../domain/routing/retry-rule.ts';
import { MAX_FALLBACKS, type RoutingPolicy } from '../../domain/routing/routing-policy.ts';
import type { CallTarget } from '../accounting/call-account.ts';
import { reserveAffordable } from './affordable.ts';
import type { OpenCall } from './call.ts';
import { asFallback, fallbackText } from './fallback-request.ts';
import { allCoolingDown, type Cooldowns } from '../routing/cooldowns.ts';
import type { BeforeSend } from '../guardrails/guarded-call.ts';
import { isGuardrailFailure } from '../guardrails/guarding.ts';
import type { GatewayCall, Tries } from '../gateway.ts';
import { inRegion, permittedFor, routerOfTeam } from '../routing/permitted-router.ts';
import { type Route, type Router, type TeamRouter, unknownModel } from '../routing/route.ts';

/** Gateway parts that retries and fallbacks use. */
interface RetryTools {
  readonly routeOf: TeamRouter;
  readonly cooldowns: Cooldowns;
  /** The configured policy, read for each call. */
  readonly policyOf: () => RoutingPolicy;
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  /** Whether the provider or the deployment of a call has a budget. */
  readonly hasRouteBudget: (deployment: Deployment) => boolean;
  /** Whether each fallback reserves its own expected cost. If not, the reservation of the first model stays. */
  readonly checksFallbackBudgets: boolean;
  /** Waits. When the signal fires first, rejects with its reason. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1, excluding 1. */
  readonly random: () => number;
  /** Whether error messages list retries and fallbacks. */
  readonly reportsTries: boolean;
}

/** An admitted call and its first route. */
interface RoutedCall {
  readonly key: VirtualKey | null;
  readonly request: ModelRequest;
  /** First route; the budget error if no deployment of the first model has budget left. */
  readonly route: Route | RouteBudgetExceeded;
  readonly signal: AbortSignal;
  /** Called before each attempt; absent for a call without guardrails. */
  readonly beforeSend?: BeforeSend;
}

/** Retries and fallbacks, before the first response byte. */
export interface Retrying {
  /** Throws Forbidden for a fallback model that the key may not call, and NotFound for an unknown one. */
  assertCallable(key: VirtualKey | null, request: ModelRequest, retries: Retries): void;
  /**
   * Reserves the cost of a call at its first deployment. If the budget of that deployment or of its provider is used
   * up, reserves at another deployment of the model. Returns the first route; if no deployment has budget left, returns
   * the budget error, and only fallbacks may answer. Synchronous where nothing has to be read, unless the deployment or
   * its provider has a budget. Throws BudgetExceeded and Forbidden.
   */
  reserve(
    call: OpenCall,
    at: Pick<RoutedCall, 'key' | 'request'> & { readonly route: Route },
  ): Route | RouteBudgetExceeded | Promise<Route | RouteBudgetExceeded>;
  /**
   * Sends an admitted call. Throws a failure of a guardrail immediately. Without an answer, throws the last failure of
   * the first model: AllCoolingDown when all its deployments cool down, RouteBudgetExceeded when none has budget left.
   * When no fallback was called and a budget refused one, throws the error of that budget.
   */
  send(call: OpenCall, routed: RoutedCall): Promise<GatewayCall>;
}

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
  /** Ids of the deployments that were called for this model: one for each attempt, in order. */
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
  /** The model group of a model name or deployment id. */
  const groupOf = (name: string, key: VirtualKey | null): string =>
    routerOfTeam(tools.routeOf, key).byId(name)?.deployment.modelGroup ?? name;

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
    const first = routeOf.all(name).length === 0 ? null : routeOf(name);
    return first && { first, group: name };
  }

  const isCooling = ({ deployment }: Route): boolean => cooldowns.remainingMs(deployment.id) > 0;
  /** The routes that the key of a call permits. */
  const permittedRoutes = ({ key, request }: Pick<RoutedCall, 'key' | 'request'>): Router =>
    inRegion(permittedFor(tools.routeOf, key), request.region);
  const membersOf = (group: string | null, sending: Sending): readonly Route[] =>
    group === null ? [] : permittedRoutes(sending).all(group);

  /** Calls deployments of one model until one answers. Throws the last failure, or AllCoolingDown. */
  async function sendTo({ request: original, first, group }: ModelTarget, sending: Sending): Promise<GatewayCall> {
    const { call, signal, beforeSend } = sending;
    let request = original;
    let next = first;
    const called: string[] = [];
    // The router selects a cooling deployment only if all of its group are cooling. Without a group, it is called.
    if (isCooling(first)) {
      const all = membersOf(group, sending);
      if (all.length > 0) throw allCoolingDown(request.model, all, cooldowns);
    }
    for (;;) {
      const deployment = forRequest(next.deployment, request);
      if (beforeSend !== undefined) request = await beforeSend(deployment, request);
      sending.target = { request, deployment };
      let exchange: Exchange;
      try {
        call.sent();
        exchange = await next.provider.send(deployment, request, signal);
      } catch (failure) {
        called.push(deployment.id);
        next = await nextAfter(failure, { route: next, deployment, request, group, called }, sending);
        continue;
      }
      if (usesConfiguredCredentials(deployment, next)) cooldowns.succeeded(deployment);
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
    const retryLimit = maxRetries(failure, {
      requested: request.retries?.count ?? null,
      group: request.model,
      own: deployment.routing?.retries,
      elsewhere: fresh !== undefined,
      policy: tools.policyOf(),
    });
    const allCoolDown = available.length === 0 && all.length > 0;
    if (retriesDone >= retryLimit || allCoolDown) {
      if (reportsTries && retryLimit > 0 && failure instanceof DomainError)
        failure.message += ` LiteLLM Retried: ${retriesDone} times, LiteLLM Max Retries: ${retryLimit}`;
      throw failure;
    }
    // No delay for a deployment that was not called yet.
    if (fresh === undefined) await tools.pause(delayMs(failure, retriesDone), signal);
    let next = fresh ?? available.find((one) => one.deployment.id !== deployment.id) ?? route;
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

  const delayMs = (failure: unknown, nth: number): number =>
    retryDelayMs(failure, { nth, leastSeconds: tools.policyOf().retryAfterSeconds, random: tools.random() });

  /** Fallbacks after a failure. With `checksAccess` of the policy, only models that the key may call. */
  function targetsAfter(
    failure: DomainError,
    { key, request }: Pick<RoutedCall, 'key' | 'request'>,
  ): readonly Fallback[] {
    const policy = tools.policyOf().fallbacks;
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
        const fallbackRequest = asFallback(request, fallback, groupOf(fallback.model, key));
        const found = targetOf(fallback.model, request, routeOf);
        if (found === null) throw unknownModel(request.endpoint.path, fallback.model);
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
        tries.maxFallbacks ??= tools.policyOf().fallbacks.most;
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
      const group = request.deploymentId === undefined ? request.model : null;
      const routes = routesToTry(route, group, permittedRoutes({ key, request }));
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
      const group = request.deploymentId === undefined ? request.model : null;
      return sendTo({ request, first: route, group }, sending).catch((failure: unknown) => fallBack(sending, failure));
    },
  };
}

/** Whether the configured credentials were used: credentials of the client change the id. */
const usesConfiguredCredentials = (called: Deployment, { deployment }: Route): boolean => called.id === deployment.id;

/** Whether a call failed by a timeout that its request set. */
const isCallersTimeout = (failure: unknown, { timeoutSeconds }: ModelRequest): boolean =>
  timeoutSeconds !== undefined && failure instanceof UpstreamFailed && failure.timedOut;
