import type { ModelRequest } from '../../domain/chat/chat.ts';
import { estimatedUsageOf, usageOfAbortedCall } from '../../domain/inference/expected-tokens.ts';
import type { Route } from '../routing/route.ts';
import type { OpenCall, openCall } from './call.ts';

/** A request and its first route. */
export interface RoutedRequest {
  readonly request: ModelRequest;
  readonly route: Route;
}

/** Counts a call in its limits, then returns `value`. */
export function afterLimits<Value>(call: OpenCall, request: ModelRequest, value: Value): Value | Promise<Value> {
  const limiting = call.limit(request);
  return limiting === undefined ? value : limiting.then(() => value);
}

/** Estimates for calls with a `ModelRequest`. `RecordedRequest` names only its recorded members. */
export const estimatedUsage: Pick<Parameters<typeof openCall>[1], 'abortedUsage' | 'uncountedUsage'> = {
  abortedUsage: (request, counted) => usageOfAbortedCall(request as ModelRequest, counted),
  uncountedUsage: (request, pieces) => estimatedUsageOf(request as ModelRequest, pieces),
};
