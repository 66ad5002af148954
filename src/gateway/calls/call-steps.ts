import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Provider } from '../../domain/chat/provider.ts';
import { estimatedUsageOf, usageOfAbortedCall } from '../../domain/inference/expected-tokens.ts';
import type { GatewayCall } from '../gateway.ts';
import { sendGuarded } from '../guardrails/guarded-call.ts';
import type { CallGuard } from '../guardrails/guarding.ts';
import type { CachedSend } from '../response-cache/cached-send.ts';
import type { Route } from '../routing/route.ts';
import type { OpenCall, openCall } from './call.ts';
import { mockedRoute } from './mocked-route.ts';
import type { RoutedCall } from './retry-tools.ts';

/** A request and its first route. */
export interface RoutedRequest {
  readonly request: ModelRequest;
  readonly route: Route;
}

/** An open call, its guardrails and its first route. */
interface OpenedCall {
  readonly call: OpenCall;
  readonly caller: Caller;
  readonly guard: CallGuard | null;
  readonly first: Route;
}

/** Estimates for calls with a `ModelRequest`. `RecordedRequest` names only its recorded members. */
export const estimatedUsage: Pick<Parameters<typeof openCall>[1], 'abortedUsage' | 'uncountedUsage'> = {
  abortedUsage: (request, counted) => usageOfAbortedCall(request as ModelRequest, counted),
  uncountedUsage: (request, pieces) => estimatedUsageOf(request as ModelRequest, pieces),
};

/** Counts a call in its limits, then returns `value`. */
export function afterLimits<Value>(call: OpenCall, request: ModelRequest, value: Value): Value | Promise<Value> {
  const limiting = call.limit(request);
  return limiting === undefined ? value : limiting.then(() => value);
}

/** Sends an open call, with its guardrails. One of them may answer it in place of a model. */
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
      const to = mockedRoute(guarded, checked.request, first, { providers }) ?? route;
      return send(guarded, caller, { key, route: to, ...checked });
    },
  });
}
