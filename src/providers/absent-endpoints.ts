import type { ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { UpstreamFailed } from '../domain/errors.ts';
import { evictOldest } from '../domain/evict-oldest.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';

/** How long an endpoint counts as absent, in ms. After that the upstream is called again: it may have been updated. */
const ABSENT_MS = 10 * 60_000;

/** Most entries. Callers can bring addresses of their own, so the number of addresses has no limit. */
const MOST_ENTRIES = 1_000;

/** Statuses of servers for a path or a method that they do not have. */
const ABSENT_STATUSES = new Set([404, 405, 501]);

/** Endpoints that upstreams at a configured address turned out not to have. */
export interface AbsentEndpoints {
  has(endpoint: Endpoint, deployment: Deployment): boolean;
  /** Records an endpoint as absent if `failure` reports that. Returns whether it was recorded. */
  note(failure: unknown, request: ModelRequest, deployment: Deployment): boolean;
}

/** Creates an empty record. `now` gives the current time in ms. */
export function createAbsentEndpoints(now: () => number = Date.now): AbsentEndpoints {
  const absentUntil = new Map<string, number>();
  const keyOf = ({ path }: Endpoint, { provider, apiBase }: Deployment): string =>
    JSON.stringify([provider, apiBase, path]);
  return {
    has(endpoint, deployment) {
      if (absentUntil.size === 0) return false;
      const key = keyOf(endpoint, deployment);
      const until = absentUntil.get(key);
      if (until === undefined) return false;
      if (now() < until) return true;
      absentUntil.delete(key);
      return false;
    },
    note(failure, request, deployment) {
      if (!isAbsence(failure, request)) return false;
      absentUntil.set(keyOf(request.endpoint, deployment), now() + ABSENT_MS);
      evictOldest(absentUntil, MOST_ENTRIES);
      return true;
    },
  };
}

/** Whether a failure is about the path. A 404 can also be about the model, or about a response that the request names. */
function isAbsence(failure: unknown, { body }: ModelRequest): boolean {
  if (!(failure instanceof UpstreamFailed) || !ABSENT_STATUSES.has(failure.upstreamStatus ?? 0)) return false;
  const namesResponse = (body['previous_response_id'] ?? body['conversation'] ?? null) !== null;
  return failure.upstreamStatus !== 404 || (failure.upstreamCode !== 'model_not_found' && !namesResponse);
}
