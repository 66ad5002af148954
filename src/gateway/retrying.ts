import type { Exchange, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { DomainError, UpstreamFailed } from '../domain/errors.ts';
import { type Fallback, NO_RETRIES, type Retries } from '../domain/inference/retries.ts';
import { mayCall, notAvailable, type VirtualKey } from '../domain/keys/virtual-key.ts';
import { fallbacksAfter } from '../domain/routing/fallback-rule.ts';
import { mostRetries, retryDelayMs } from '../domain/routing/retry-rule.ts';
import { MOST_FALLBACKS, type RoutingPolicy } from '../domain/routing/routing-policy.ts';
import type { CallTarget } from './call-account.ts';
import type { Estimated } from './budgets.ts';
import type { OpenCall } from './call.ts';
import { allCoolingDown, type Cooldowns } from './cooldowns.ts';
import type { GatewayCall, Tries } from './gateway.ts';
import { permittedFor } from './permitted-router.ts';
import { type Route, type Router, unknownModel } from './route.ts';

/** Gateway parts that retries and fallbacks use. */
interface RetryTools {
  readonly routeOf: Router;
  readonly cooldowns: Cooldowns;
  /** The configured policy, read for each call. */
  readonly policyOf: () => RoutingPolicy;
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  /** Reserves the cost of a fallback in place of the failed call. Returns the error of an exceeded budget; null for success. */
  readonly reserve: (call: OpenCall, at: Estimated) => Promise<DomainError | null>;
  /** Waits. Rejects with the signal's reason when it fires first. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** Whether error messages list retries and fallbacks. */
  readonly reportsTries: boolean;
}

/** An admitted call and its first route. */
interface RoutedCall {
  readonly key: VirtualKey | null;
  readonly request: ModelRequest;
  readonly route: Route;
  readonly signal: AbortSignal;
}

/** Retries and fallbacks, before the first response byte. */
export interface Retrying {
  /** Throws Forbidden for a fallback model that the key may not call, and NotFound for an unknown one. */
  assertCallable(key: VirtualKey | null, request: ModelRequest, retries: Retries): void;
  /**
   * Sends an admitted call. Throws the last failure of the first model, AllCoolingDown when none of its deployments may
   * be called, or BudgetExceeded when only the budget prevented every fallback.
   */
  send(call: OpenCall, routed: RoutedCall): Promise<GatewayCall>;
}

/** Counts of one call so far. */
type Made = { -readonly [Member in keyof Tries]: Tries[Member] };

/** One model of a call: where it is sent first, and the deployments that take over. */
interface Attempt {
  readonly asked: ModelRequest;
  readonly first: Route;
  /** Deployments of the model; none where the call is bound to one. */
  readonly others: () => readonly Route[];
}

export function createRetrying(tools: RetryTools): Retrying {
  const { cooldowns, forRequest, reserve, reportsTries } = tools;
  const groupOf = (name: string): string => tools.routeOf.byId(name)?.deployment.modelGroup ?? name;

  /** First route and alternatives of a fallback. `name` is a model or the id of a deployment. */
  function targetOf(
    name: string,
    { routeOf, request: { deploymentId } }: { readonly routeOf: Router; readonly request: ModelRequest },
  ): Omit<Attempt, 'asked'> | null {
    const none = (): readonly Route[] => [];
    if (deploymentId !== undefined) {
      // The request refers to an object that one upstream stores: only that account can serve it.
      const pinned = routeOf(groupOf(name), deploymentId);
      return pinned && { first: pinned, others: none };
    }
    const one = routeOf.byId(name);
    if (one !== null) return { first: one, others: none };
    const first = routeOf(name);
    return first && { first, others: () => routeOf.all(name) };
  }

  /** Sends to one model until it answers. Throws its last failure. */
  async function sendTo(
    { asked, first, others }: Attempt,
    { call, signal, made, at }: { call: OpenCall; signal: AbortSignal; made: Made; at: (target: CallTarget) => void },
  ): Promise<Exchange> {
    const called = new Set<string>();
    const isCooling = ({ deployment }: Route): boolean => cooldowns.remainingMs(deployment.id) > 0;
    if (isCooling(first)) {
      const all = others();
      if (all.length > 0) throw allCoolingDown(asked.model, all, cooldowns);
    }
    let next = first;
    for (let nth = 0; ; nth += 1) {
      const deployment = forRequest(next.deployment, asked);
      at({ request: asked, deployment });
      called.add(deployment.id);
      // Credentials and timeouts of a caller say nothing about the deployment.
      const isOwn = deployment.id === next.deployment.id;
      try {
        const exchange = await next.provider.send(deployment, asked, signal);
        if (isOwn) cooldowns.succeeded(deployment);
        return exchange;
      } catch (failure) {
        const all = others();
        if (signal.aborted) throw failure;
        if (isOwn && !isCallersTimeout(failure, asked))
          cooldowns.failed(deployment, failure, { isAlone: all.length <= 1 });
        const open = all.filter((one) => !isCooling(one));
        const fresh = open.find((one) => !called.has(one.deployment.id));
        const most = mostRetries(failure, {
          asked: asked.retries?.again ?? null,
          group: asked.model,
          own: deployment.routing?.retries,
          elsewhere: fresh !== undefined,
          policy: tools.policyOf(),
        });
        if (nth >= most || (open.length === 0 && all.length > 0)) {
          if (reportsTries && most > 0 && failure instanceof DomainError)
            failure.message += ` LiteLLM Retried: ${nth} times, LiteLLM Max Retries: ${most}`;
          throw failure;
        }
        // No delay for a deployment that was not called yet.
        if (fresh === undefined) await tools.pause(delayMs(failure, nth), signal);
        next = fresh ?? open.find((one) => one.deployment.id !== deployment.id) ?? next;
        made.retries += 1;
        made.mostRetries = most;
        call.moved({ request: asked, deployment: forRequest(next.deployment, asked) }, failure);
      }
    }
  }

  const delayMs = (failure: unknown, nth: number): number =>
    retryDelayMs(failure, { nth, leastSeconds: tools.policyOf().retryAfterSeconds, random: tools.random() });

  /** Models to call after the first one failed, that the key may call where that is checked. */
  function targetsAfter(failure: DomainError, { key, request }: RoutedCall): readonly Fallback[] {
    const policy = tools.policyOf().fallbacks;
    const targets = fallbacksAfter(failure, request.model, { retries: request.retries ?? NO_RETRIES, policy });
    return policy.checksAccess ? targets.filter(({ model }) => mayCall(key, groupOf(model))) : targets;
  }

  return {
    assertCallable(key, { endpoint }, { fallbacks, longer }) {
      const routeOf = permittedFor(tools.routeOf, key);
      for (const name of [...fallbacks.map(({ model }) => model), ...longer.values()]) {
        if (!mayCall(key, groupOf(name))) throw notAvailable(name);
        if (routeOf.byId(name) === null && routeOf.all(name).length === 0)
          throw unknownModel(endpoint.path, name, 'fallback');
      }
    },
    async send(call, routed) {
      const { key, request, route, signal } = routed;
      const routeOf = permittedFor(tools.routeOf, key);
      const names = request.retries !== undefined && request.retries.fallbacks.length + request.retries.longer.size > 0;
      const made: Made = { retries: 0, mostRetries: null, fallbacks: 0, mostFallbacks: names ? MOST_FALLBACKS : null };
      let target: CallTarget = { request, deployment: route.deployment };
      const about = { call, signal, made, at: (to: CallTarget) => void (target = to) };
      const failures: DomainError[] = [];
      const note = (failure: unknown): DomainError => {
        if (signal.aborted || !(failure instanceof DomainError)) throw failure;
        failures.push(failure);
        return failure;
      };

      const others = (): readonly Route[] => (request.deploymentId === undefined ? routeOf.all(request.model) : []);
      let first: DomainError;
      try {
        return call.answered(await sendTo({ asked: request, first: route, others }, about), made);
      } catch (failure) {
        first = note(failure);
      }
      const failedAt = target;
      const targets = targetsAfter(first, routed);
      if (targets.length === 0) throw first;
      let budgetFailure: DomainError | null = null;
      for (const fallback of targets) {
        try {
          const asked = asFallback(request, fallback, groupOf(fallback.model));
          const found = targetOf(fallback.model, { routeOf, request });
          if (found === null) throw unknownModel(request.endpoint.path, fallback.model);
          budgetFailure = await reserve(call, { deployment: found.first.deployment, request: asked });
          if (budgetFailure !== null) continue;
          call.moved({ request: asked, deployment: forRequest(found.first.deployment, asked) }, failures.at(-1));
          made.fallbacks += 1;
          made.mostFallbacks ??= tools.policyOf().fallbacks.most;
          return call.answered(await sendTo({ asked, ...found }, about), made);
        } catch (failure) {
          note(failure);
        }
      }
      const last = failures.at(-1);
      call.gaveUp(failedAt, last);
      // Only the budget prevented the fallbacks.
      if (made.fallbacks === 0 && budgetFailure !== null) throw budgetFailure;
      if (reportsTries) first.message += fallbackText(request.model, targets, last);
      throw first;
    },
  };
}

/** Whether a call failed by a timeout that its request set. */
const isCallersTimeout = (failure: unknown, { timeoutSeconds }: ModelRequest): boolean =>
  timeoutSeconds !== undefined && failure instanceof UpstreamFailed && failure.timedOut;

/** The request for a fallback. The caller's own upstream credentials apply to the first model only. */
function asFallback(request: ModelRequest, { members }: Fallback, model: string): ModelRequest {
  const asked = { ...request, model, credentials: null };
  if (Object.keys(members).length === 0) return asked;
  const replaced = { ...request.replaced, ...members };
  return { ...asked, body: { ...request.body, ...members }, replaced };
}

/** Text about failed fallbacks that the reference appends to the error message. */
function fallbackText(model: string, targets: readonly Fallback[], last: DomainError | undefined): string {
  const names = JSON.stringify(targets.map((target) => target.model));
  const text = `. Received Model Group=${model}\nAvailable Model Group Fallbacks=${names}`;
  return last === undefined ? text : `${text}\nError doing the fallback: ${last.message}`;
}
