import type { UpstreamFailed } from '../errors.ts';
import { countFor } from './failure-class.ts';
import type { CooldownPolicy, DeploymentRouting } from './routing-policy.ts';

/** Results of calls to one deployment. */
export interface FailureCounts {
  /** Calls and failures of the current minute. */
  readonly calls: number;
  readonly failures: number;
  /**
   * Failures in the current window that the deployment caused. A window begins with a failure and has the length of a
   * cooldown.
   */
  readonly recent: number;
  /** All failures in the window with the class of the latest failure, which is included. */
  readonly recentOfClass: number;
}

/** Share of failures in a minute above which a deployment cools down, and the minimum number of calls. */
const FAILING_SHARE = 0.5;
const MIN_CALLS = 5;
/** The only deployment of a group cools down when at least this many calls of a minute have all failed. */
const MIN_CALLS_OF_ONLY_DEPLOYMENT = 1_000;

/** Maximum cooldown by the upstream's `Retry-After`, in seconds. */
const MAX_RETRY_AFTER_SECONDS = 3_600;

/** Wrong credential or model name: no call to the deployment can succeed. */
const BROKEN_STATUSES = new Set([401, 404]);
/** Payment required or rate limit: another deployment can serve meanwhile. */
const BUSY_STATUSES = new Set([402, 429]);

/**
 * Whether a deployment cools down after a failure. By default it does so immediately after 401 and 404, and after 402
 * and 429 where its group has another deployment. In all other cases it does so when too many calls of the minute
 * failed. A limit of accepted failures replaces this rule. A failure that the request caused starts a cooldown only by
 * a limit for its class.
 */
export function shouldCoolDown(
  failure: UpstreamFailed,
  about: {
    readonly counts: FailureCounts;
    /** Whether its group has no other deployment. */
    readonly isAlone: boolean;
    readonly policy: CooldownPolicy;
    /** Settings of the deployment, where configured. */
    readonly own: DeploymentRouting | undefined;
  },
): boolean {
  const { counts, isAlone, policy, own } = about;
  const allowedOfClass = countFor(own?.allowedFailsOf ?? policy.allowedFailsOf, failure);
  if (allowedOfClass !== null) return counts.recentOfClass > allowedOfClass;
  if (!isFaultOfDeployment(failure)) return false;
  const allowedFails = own?.allowedFails ?? policy.allowedFails;
  if (allowedFails !== null) return counts.recent > allowedFails;
  const { upstreamStatus: status } = failure;
  if (status !== null && BROKEN_STATUSES.has(status)) return true;
  if (status !== null && BUSY_STATUSES.has(status) && !isAlone) return true;
  if (counts.calls >= MIN_CALLS_OF_ONLY_DEPLOYMENT && counts.failures >= counts.calls) return true;
  return !isAlone && counts.calls >= MIN_CALLS && counts.failures / counts.calls > FAILING_SHARE;
}

/** Whether the deployment caused a failure, and not the request. */
export function isFaultOfDeployment({ upstreamStatus: status }: UpstreamFailed): boolean {
  return status === null || status >= 500 || status === 408 || BROKEN_STATUSES.has(status) || BUSY_STATUSES.has(status);
}

/** Length of a cooldown in seconds: the deployment's, else the upstream's, else the policy's. */
export function cooldownSeconds(
  failure: UpstreamFailed,
  { policy, own }: { readonly policy: CooldownPolicy; readonly own: DeploymentRouting | undefined },
): number {
  if (own?.cooldownSeconds !== undefined) return own.cooldownSeconds;
  const retryAfter = failure.retryAfterSeconds ?? 0;
  return retryAfter > 0 ? Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS) : policy.seconds;
}
