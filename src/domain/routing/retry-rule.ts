import { UpstreamFailed } from '../errors.ts';
import { countFor } from './failure-class.ts';
import type { RoutingPolicy } from './routing-policy.ts';
import { routingGroupOf } from './selection-policy.ts';

/** Timeout, conflict, rate limit: a retry at the same deployment may succeed. */
const TRANSIENT_STATUSES = new Set([408, 409, 429]);
/** Wrong credential or model name: a retry at another deployment may succeed. */
const DEPLOYMENT_STATUSES = new Set([401, 403, 404]);

/** Whether a retry may succeed. `elsewhere`: the retry is sent to another deployment. */
function isRetryable(failure: unknown, { elsewhere }: { readonly elsewhere: boolean }): boolean {
  if (!(failure instanceof UpstreamFailed)) return false;
  const { upstreamStatus: status } = failure;
  if (status === null || status >= 500 || TRANSIENT_STATUSES.has(status)) return true;
  return elsewhere && DEPLOYMENT_STATUSES.has(status);
}

/**
 * Maximum number of retries of a call after a failure. A policy by class takes precedence over the rule by status. A
 * request that asks for no retries has none.
 */
export function maxRetries(
  failure: unknown,
  about: {
    /** Retries that the request asks for; null where it does not say. */
    readonly requested: number | null;
    readonly group: string;
    /** Retries of the deployment, where configured. */
    readonly own: number | undefined;
    readonly elsewhere: boolean;
    readonly policy: RoutingPolicy;
  },
): number {
  const { requested, group, own, elsewhere, policy } = about;
  if (requested === 0) return 0;
  const byClass = countFor(policy.retriesOfGroup.get(group) ?? policy.retriesOf, failure);
  if (byClass !== null) return byClass;
  return isRetryable(failure, { elsewhere }) ? (requested ?? own ?? policy.retries) : 0;
}

/**
 * Whether a call continues at a deployment of its model that was not called yet after its retries
 * (`enable_weighted_failover`). `retriesDone` is the number of deployments that were called after the first.
 */
export function mayFailOver(
  failure: unknown,
  {
    group,
    retriesDone,
    policy: { selection, fallbacks },
  }: { readonly group: string; readonly retriesDone: number; readonly policy: RoutingPolicy },
): boolean {
  if (!selection.failsOver || retriesDone >= fallbacks.most) return false;
  const { strategy } = routingGroupOf(selection, group) ?? selection;
  return strategy === 'simple-shuffle' && isRetryable(failure, { elsewhere: true });
}

/** First wait before a retry at the same deployment, doubled each time, and its maximum without jitter, in ms. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8_000;
/** Maximum jitter of a wait, in ms, so that calls that failed together are not repeated together. */
const JITTER_MS = 750;
/** Maximum `Retry-After` that is honoured, in ms; a longer one is ignored. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Wait before a retry at the same deployment, in ms. `nth` is 0 for the first retry. `leastSeconds` is the minimum
 * wait, but never raises it above `MAX_WAIT_MS`. `random` is from 0 to 1.
 */
export function retryDelayMs(
  failure: unknown,
  { nth, leastSeconds, random }: { readonly nth: number; readonly leastSeconds: number; readonly random: number },
): number {
  const retryAfterMs = failure instanceof UpstreamFailed ? (failure.retryAfterSeconds ?? 0) * 1000 : 0;
  if (retryAfterMs > 0 && retryAfterMs <= MAX_RETRY_AFTER_MS) return retryAfterMs;
  return Math.min(MAX_WAIT_MS, Math.max(FIRST_WAIT_MS * 2 ** nth, leastSeconds * 1000)) + random * JITTER_MS;
}
