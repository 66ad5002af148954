import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Provider } from '../../domain/chat/provider.ts';
import { estimatedUsageOf, usageOfAbortedCall } from '../../domain/inference/expected-tokens.ts';
import type { CostExpectations } from '../admission/expected-cost.ts';
import type { GatewayCall } from '../gateway.ts';
import { sendGuarded } from '../guardrails/guarded-call.ts';
import type { CallGuard } from '../guardrails/guarding.ts';
import type { CachedSend } from '../response-cache/cached-send.ts';
import type { Route } from '../routing/route.ts';
import type { OpenCall } from './call.ts';
import type { CallOptions } from './call-options.ts';
import { redirectToMock } from './mocked-route.ts';
import type { RoutedCall } from './retry-tools.ts';

/** A request and its first route. */
export interface RoutedRequest {
  readonly request: ModelRequest;
  readonly route: Route;
}

/** An open call, its guardrails and its first route. `guard` is null for a call without guardrails. */
interface OpenedCall {
  readonly call: OpenCall;
  readonly caller: Caller;
  readonly guard: CallGuard | null;
  readonly first: Route;
}

/**
 * Usage of model calls that the upstream does not report. The request of a model call is a `ModelRequest`, of which
 * `RecordedRequest` names the recorded members only.
 */
export const estimatedUsage: Pick<CallOptions, 'abortedUsage' | 'uncountedUsage'> = {
  abortedUsage: (request, counted) => usageOfAbortedCall(request as ModelRequest, counted),
  uncountedUsage: (request, pieces) => estimatedUsageOf(request as ModelRequest, pieces),
};

/** Expected cost of a model call whose client disconnected before its answer; null if unknown. */
export const expectedCostOf =
  (expectations: CostExpectations): NonNullable<CallOptions['abortedCost']> =>
  ({ deployment, request }) => {
    const { cost } = expectations.of(deployment, request as ModelRequest);
    return cost > 0n ? cost : null;
  };

/**
 * Counts a call in its limits, then returns `value`. Synchronous where the limits need no wait. Throws as
 * `OpenCall.limit`.
 */
export function afterLimits<Value>(call: OpenCall, request: ModelRequest, value: Value): Value | Promise<Value> {
  const limiting = call.limit(request);
  return limiting === undefined ? value : limiting.then(() => value);
}

/** Runs the guardrails of an open call and sends it. When a guardrail answers the call, no model is called. */
export function sendOpened(
  { send, providers }: { readonly send: CachedSend; readonly providers: readonly Provider[] },
  { call, caller, guard, first }: OpenedCall,
  routed: RoutedCall,
): Promise<GatewayCall> {
  if (guard === null) return send(call, caller, routed);
  const { key, request, route, signal } = routed;
  return sendGuarded(guard, call, {
    request,
    signal,
    send(guarded, checked) {
      const mocked = redirectToMock(guarded, checked.request, first, { providers });
      return send(guarded, caller, { key, route: mocked ?? route, ...checked });
    },
  });
}
