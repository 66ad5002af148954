import type { Exchange, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { DomainError } from '../domain/errors.ts';
import {
  type Fallback,
  isTooLong,
  isRetryable,
  MOST_FALLBACKS,
  type Retries,
  retryDelayMs,
} from '../domain/inference/retries.ts';
import { mayCall, notAvailable, type VirtualKey } from '../domain/keys/virtual-key.ts';
import type { CallTarget } from './call-account.ts';
import type { Estimated } from './budgets.ts';
import type { OpenCall } from './call.ts';
import type { GatewayCall } from './gateway.ts';
import { type Route, type Router, unknownModel } from './route.ts';

/** Gateway parts that retries and fallbacks use. */
interface RetryTools {
  readonly routeOf: Router;
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  /** Reserves the cost of a fallback in place of the failed call. Returns the error of an exceeded budget; null for success. */
  readonly reserve: (call: OpenCall, at: Estimated) => Promise<DomainError | null>;
  /** Waits. Rejects with the signal's reason when it fires first. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Whether error messages list retries and fallbacks. */
  readonly reportsTries: boolean;
}

/** An admitted call and its first route. */
interface RoutedCall {
  readonly request: ModelRequest;
  readonly route: Route;
  readonly signal: AbortSignal;
}

/** Retries and fallbacks, before the first response byte. */
export interface Retrying {
  /** Throws Forbidden for a fallback model that the key may not call, and NotFound for an unknown one. */
  assertCallable(key: VirtualKey | null, request: ModelRequest, retries: Retries): void;
  /** Throws the last failure of the first model, or BudgetExceeded when only the budget prevented every fallback. */
  send(call: OpenCall, routed: RoutedCall, retries: Retries): Promise<GatewayCall>;
}

export function createRetrying({ routeOf, forRequest, reserve, pause, reportsTries }: RetryTools): Retrying {
  const groupOf = (name: string): string => routeOf.byId(name)?.deployment.modelGroup ?? name;

  /** First route and alternatives of a fallback. `name` is a model or the id of a deployment. */
  function targetOf(name: string, { deploymentId }: ModelRequest): { route: Route; others: readonly Route[] } | null {
    if (deploymentId !== undefined) {
      // The request refers to an object that one upstream stores: only that account can serve it.
      const pinned = routeOf(groupOf(name), deploymentId);
      return pinned && { route: pinned, others: [] };
    }
    const one = routeOf.byId(name);
    if (one !== null) return { route: one, others: [] };
    const route = routeOf(name);
    return route && { route, others: routeOf.all(name) };
  }

  return {
    assertCallable(key, { endpoint }, { fallbacks, longer }) {
      for (const name of [...fallbacks.map(({ model }) => model), ...longer.values()]) {
        if (!mayCall(key, groupOf(name))) throw notAvailable(name);
        if (routeOf.byId(name) === null && routeOf.all(name).length === 0) throw unknownModel(endpoint.path, name);
      }
    },
    async send(call, { request, route, signal }, { again, fallbacks, longer }) {
      const made = { retries: 0, fallbacks: 0 };
      const mostFallbacks = fallbacks.length + longer.size === 0 ? null : MOST_FALLBACKS;
      let at: CallTarget = { request, deployment: route.deployment };

      /** Sends to one model until it answers. Throws its last failure. */
      async function sendTo(asked: ModelRequest, first: Route, others: readonly Route[]): Promise<Exchange> {
        const called = new Set<string>();
        let next = first;
        for (let nth = 0; ; nth += 1) {
          const { provider } = next;
          const deployment = forRequest(next.deployment, asked);
          at = { request: asked, deployment };
          called.add(deployment.id);
          try {
            return await provider.send(deployment, asked, signal);
          } catch (failure) {
            const fresh = others.find((one) => !called.has(one.deployment.id));
            if (nth === again || signal.aborted || !isRetryable(failure, { elsewhere: fresh !== undefined })) {
              if (reportsTries && again > 0 && failure instanceof DomainError)
                failure.message += ` LiteLLM Retried: ${nth} times, LiteLLM Max Retries: ${again}`;
              throw failure;
            }
            // No delay for a deployment that was not called yet.
            if (fresh === undefined) await pause(retryDelayMs(failure, nth), signal);
            next = fresh ?? others.find((one) => one.deployment.id !== deployment.id) ?? next;
            made.retries += 1;
            call.moved({ request: asked, deployment: forRequest(next.deployment, asked) }, failure);
          }
        }
      }

      const answered = (exchange: Exchange): GatewayCall => call.answered(exchange, { ...made, mostFallbacks });
      const failures: DomainError[] = [];
      const note = (failure: unknown): DomainError => {
        if (signal.aborted || !(failure instanceof DomainError)) throw failure;
        failures.push(failure);
        return failure;
      };

      const pinned = request.deploymentId !== undefined;
      try {
        return answered(await sendTo(request, route, pinned ? [] : routeOf.all(request.model)));
      } catch (failure) {
        note(failure);
      }
      const [first] = failures;
      if (first === undefined) throw new TypeError('A call failed without a failure.');
      const failedAt = at;
      const targets = fallbacksAfter(first, request.model, { fallbacks, longer });
      if (targets.length === 0) throw first;
      let budgetFailure: DomainError | null = null;
      for (const fallback of targets) {
        try {
          const asked = asFallback(request, fallback, groupOf(fallback.model));
          const target = targetOf(fallback.model, request);
          if (target === null) throw unknownModel(request.endpoint.path, fallback.model);
          budgetFailure = await reserve(call, { deployment: target.route.deployment, request: asked });
          if (budgetFailure !== null) continue;
          const last = failures.at(-1);
          call.moved({ request: asked, deployment: forRequest(target.route.deployment, asked) }, last);
          made.fallbacks += 1;
          return answered(await sendTo(asked, target.route, target.others));
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

/** The request for a fallback. The caller's own upstream credentials apply to the first model only. */
function asFallback(request: ModelRequest, { members }: Fallback, model: string): ModelRequest {
  const asked = { ...request, model, credentials: null };
  if (Object.keys(members).length === 0) return asked;
  const replaced = { ...request.replaced, ...members };
  return { ...asked, body: { ...request.body, ...members }, replaced };
}

function fallbacksAfter(
  failure: DomainError,
  model: string,
  { fallbacks, longer }: Pick<Retries, 'fallbacks' | 'longer'>,
): readonly Fallback[] {
  const longerModel = isTooLong(failure) ? longer.get(model) : undefined;
  const targets = longerModel === undefined ? fallbacks : [{ model: longerModel, members: {} }, ...fallbacks];
  return targets.slice(0, MOST_FALLBACKS);
}

/** Text about failed fallbacks that the reference appends to the error message. */
function fallbackText(model: string, targets: readonly Fallback[], last: DomainError | undefined): string {
  const names = JSON.stringify(targets.map((target) => target.model));
  const text = `. Received Model Group=${model}\nAvailable Model Group Fallbacks=${names}`;
  return last === undefined ? text : `${text}\nError doing the fallback: ${last.message}`;
}
