import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { attachFailedCall } from '../../domain/chat/failed-call.ts';
import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import type { AutoRouting } from '../auto-routers/auto-routing.ts';
import type { Gateway } from '../gateway.ts';
import { type CallGuard, guardFacts } from '../guardrails/guarding.ts';
import type { CachedSend } from '../response-cache/cached-send.ts';
import type { Route } from '../routing/route.ts';
import { type CallTools, type OpenCall, openCall } from './call.ts';
import type { CallOptions } from './call-options.ts';
import { estimatedUsage, type RoutedRequest, sendOpened } from './call-steps.ts';
import type { Mirroring } from './mirroring.ts';
import type { RoutedCall } from './retry-tools.ts';

/**
 * The route for which the cost is reserved. A budget error when no route of the model has budget left: fallbacks
 * follow.
 */
type ReservedRoute = RoutedCall['route'];

/** Parts of the gateway that a model call uses, in the order of their use. */
interface ModelCallParts {
  /** Applies the settings of the key to a request, and finds its first route. */
  readonly routed: (caller: Caller, received: ModelRequest) => RoutedRequest | Promise<RoutedRequest>;
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  /** Selects the guardrails of a call; null for none. */
  readonly guardOf: (caller: Caller, request: ModelRequest, route: Route) => CallGuard | null;
  readonly tools: CallTools;
  /** Expected cost of a call of which the upstream reports nothing; null if unknown. */
  readonly abortedCost: NonNullable<CallOptions['abortedCost']>;
  /** Checks a call, reserves its cost and counts it in its limits. Not used for auto routers. */
  readonly admitted: (call: OpenCall, caller: Caller, found: RoutedRequest) => ReservedRoute | Promise<ReservedRoute>;
  readonly routers: AutoRouting;
  readonly send: CachedSend;
  readonly providers: readonly Provider[];
  readonly mirroring: Mirroring;
}

/** Creates `Gateway.call`. */
export function createModelCall(parts: ModelCallParts): Gateway['call'] {
  const { routed, forRequest, guardOf, tools, abortedCost, admitted, routers, send, providers, mirroring } = parts;
  /**
   * Sends a call, and a copy to each silent model of its first deployment. Copies have the edits of the guardrails of
   * the call. A call that these block, or that the cache answers, is not copied.
   */
  const sendWithCopies =
    (deployment: Deployment): CachedSend =>
    (call, caller, sent) =>
      send(call, caller, { ...sent, onSend: (request) => mirroring.start(caller, request, deployment) });
  return async (caller, received, signal) => {
    const finding = routed(caller, received);
    // An `await` of a value that is no promise would delay each call by a turn of the microtask queue.
    const found = finding instanceof Promise ? await finding : finding;
    const { request, route } = found;
    const { key } = caller;
    const deployment = forRequest(route.deployment, request);
    const guard = guardOf(caller, request, route);
    const isRefused = route.refusal !== undefined;
    const call = openCall(tools, { caller, request, deployment, signal, isRefused, abortedCost, ...estimatedUsage });
    if (guard !== null) call.setGuard(guard);
    const opened = { call, caller, guard, first: route };
    try {
      if (deployment.autoRouter !== undefined) {
        await routers.admit(call, caller, { deployment, request });
        const sendRouted: CachedSend = (guarded, from, sent) => {
          const isAnsweredByGuardrail = sent.request.mockFinish !== undefined;
          if (isAnsweredByGuardrail) return send(guarded, from, sent);
          return routers.send(guarded, { caller: from, ...sent, route });
        };
        return await sendOpened({ send: sendRouted, providers }, opened, { key, request, route, signal });
      }
      const admitting = admitted(call, caller, found);
      const reserved = admitting instanceof Promise ? await admitting : admitting;
      const sendFirst = deployment.selection?.silentModels === undefined ? send : sendWithCopies(deployment);
      return await sendOpened({ send: sendFirst, providers }, opened, { key, request, route: reserved, signal });
    } catch (failure) {
      attachFailedCall(failure, {
        callId: call.callId,
        timeoutSeconds: deployment.timeoutSeconds,
        ...guardFacts(guard),
      });
      call.failed(failure);
      throw failure;
    }
  };
}
