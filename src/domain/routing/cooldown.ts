import type { UpstreamFailed } from '../errors.ts';
import { countFor } from './failure-class.ts';
import type { CooldownPolicy, DeploymentRouting } from './routing-policy.ts';

/** Results of calls to one deployment. */
export interface FailureCounts {
  /** Calls and failures of the running minute. */
  readonly calls: number;
  readonly failures: number;
  /** Failures since the first one within the length of a cooldown, this one included; and those of its class. */
  readonly recent: number;
  readonly recentOfClass: number;
}

/** Share of failures in a minute above which a deployment cools down, and the minimum number of calls. */
const FAILING_SHARE = 0.5;
const ENOUGH_CALLS = 5;
/** Calls of a minute that must all have failed before the only deployment of a group cools down. */
const MANY_CALLS = 1_000;

/** Longest cooldown that an upstream can ask for by `Retry-After`, in seconds. */
const LONGEST_ASKED_SECONDS = 3_600;

/** Credential or name of the deployment: no call to it can succeed. */
const BROKEN = new Set([401, 404]);
/** Payment missing, rate limit: another deployment serves meanwhile. */
const BUSY = new Set([402, 429]);

/**
 * Whether a deployment cools down after a failure. By default at once after 401 and 404, after 402 and 429 where its
 * group has another deployment, and when most of the last calls failed. A limit of accepted failures replaces the rule.
 */
export function coolsDown(
  failure: UpstreamFailed,
  about: {
    readonly counts: FailureCounts;
    /** Whether its group has no other deployment. */
    readonly isAlone: boolean;
    readonly policy: CooldownPolicy;
    readonly own: DeploymentRouting | undefined;
  },
): boolean {
  const { counts, isAlone, policy, own } = about;
  const ofClass = countFor(own?.allowedFailsOf ?? policy.allowedFailsOf, failure);
  if (ofClass !== null) return counts.recentOfClass > ofClass;
  if (!isFaultOfDeployment(failure)) return false;
  const allowed = own?.allowedFails ?? policy.allowedFails;
  if (allowed !== null) return counts.recent > allowed;
  const { upstreamStatus: status } = failure;
  if (status !== null && BROKEN.has(status)) return true;
  if (status !== null && BUSY.has(status) && !isAlone) return true;
  if (counts.calls >= MANY_CALLS && counts.failures >= counts.calls) return true;
  return !isAlone && counts.calls >= ENOUGH_CALLS && counts.failures / counts.calls > FAILING_SHARE;
}

/** Whether a failure says something about the deployment: not another refusal of the request itself. */
function isFaultOfDeployment({ upstreamStatus: status }: UpstreamFailed): boolean {
  return status === null || status >= 500 || status === 408 || BROKEN.has(status) || BUSY.has(status);
}

/** Length of a cooldown in seconds: the deployment's, else the upstream's, else the policy's. */
export function cooldownSeconds(
  failure: UpstreamFailed,
  { policy, own }: { readonly policy: CooldownPolicy; readonly own: DeploymentRouting | undefined },
): number {
  if (own?.cooldownSeconds !== undefined) return own.cooldownSeconds;
  const asked = failure.retryAfterSeconds ?? 0;
  return asked > 0 ? Math.min(asked, LONGEST_ASKED_SECONDS) : policy.seconds;
}
