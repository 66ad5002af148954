import type { ModelRequest } from '../../domain/chat/chat.ts';
import { estimatedUsageOf, usageOfAbortedCall } from '../../domain/inference/expected-tokens.ts';
import type { OpenCall, openCall } from './call.ts';

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
