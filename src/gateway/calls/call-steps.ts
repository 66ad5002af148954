import type { ModelRequest } from '../../domain/chat/chat.ts';
import { estimatedUsageOf, usageOfAbortedCall } from '../../domain/inference/expected-tokens.ts';
import type { GatewayCall } from '../gateway.ts';
import { sendGuarded } from '../guardrails/guarded-call.ts';
import type { CallGuard } from '../guardrails/guarding.ts';
import type { OpenCall, openCall } from './call.ts';
import type { Retrying, RoutedCall } from './retry-tools.ts';

type CallOptions = Parameters<typeof openCall>[1];

// Model calls have a `ModelRequest`. `RecordedRequest` names only its recorded members.

/** Usage of a model call whose client disconnected. */
export const abortedUsage: NonNullable<CallOptions['abortedUsage']> = (request, counted) =>
  usageOfAbortedCall(request as ModelRequest, counted);

/** Usage of a model call whose answer reports none. */
export const uncountedUsage: NonNullable<CallOptions['uncountedUsage']> = (request, pieces) =>
  estimatedUsageOf(request as ModelRequest, pieces);

/** Counts a call in its limits, then returns `value`. */
export function afterLimits<Value>(call: OpenCall, request: ModelRequest, value: Value): Value | Promise<Value> {
  const limiting = call.limit(request);
  return limiting === undefined ? value : limiting.then(() => value);
}

/** Sends an open call, with its guardrails. */
export function sendOpened(
  retrying: Pick<Retrying, 'send'>,
  guard: CallGuard | null,
  call: OpenCall,
  routed: RoutedCall,
): Promise<GatewayCall> {
  if (guard === null) return retrying.send(call, routed);
  const { key, request, route, signal } = routed;
  return sendGuarded(guard, call, {
    request,
    signal,
    send: (guarded, checked) => retrying.send(guarded, { key, route, ...checked }),
  });
}
