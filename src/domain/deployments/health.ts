import { UpstreamFailed } from '../errors.ts';

export type HealthState = 'healthy' | 'degraded' | 'failing' | 'unknown';

/**
 * Results of calls to a deployment in this process, since it started. Calls that failed because of the caller do not
 * count.
 */
export interface Health {
  readonly state: HealthState;
  /** Calls that have ended, failures included. */
  readonly calls: number;
  readonly failures: number;
  readonly inFlight: number;
  /** Moving average of the time to the head of an answer, in ms; null before the first. */
  readonly latencyMs: number | null;
  readonly lastSuccessAt: Date | null;
  readonly lastFailure: { readonly at: Date; readonly code: string } | null;
}

/** Result of one call. */
export interface EndedCall {
  readonly atMs: number;
  readonly succeeded: boolean;
}

/** Maximum number and age, in ms, of the calls that the state is computed from. */
export const RECENT_CALLS = 20;
export const RECENT_MS = 300_000;
/** Shares of failures at which a deployment is failing, or degraded. */
const FAILING = 0.5;
const DEGRADED = 0.1;

/**
 * State by the last twenty calls that ended within five minutes. It is `failing` when at least half of them failed,
 * `degraded` when at least a tenth failed, else `healthy`. It is `unknown` without calls.
 */
export function healthStateOf(ended: readonly EndedCall[], nowMs: number): HealthState {
  const recent = ended.filter(({ atMs }) => nowMs - atMs <= RECENT_MS).slice(-RECENT_CALLS);
  if (recent.length === 0) return 'unknown';
  const share = recent.filter(({ succeeded }) => !succeeded).length / recent.length;
  if (share >= FAILING) return 'failing';
  return share >= DEGRADED ? 'degraded' : 'healthy';
}

/**
 * Joint state of several deployments. Unknown states are ignored. Deployments in different states are together
 * `degraded`. `unknown` when all states are unknown.
 */
export function jointState(states: readonly HealthState[]): HealthState {
  const [first = 'unknown', ...others] = [...new Set(states.filter((state) => state !== 'unknown'))];
  return others.length === 0 ? first : 'degraded';
}

/** Joint health of several deployments: sums of counts, latest times, mean latency. */
export function jointHealth(healths: readonly Health[]): Health {
  const latencies = healths.flatMap(({ latencyMs }) => latencyMs ?? []);
  const sum = (of: (health: Health) => number): number => healths.reduce((total, health) => total + of(health), 0);
  return {
    state: jointState(healths.map(({ state }) => state)),
    calls: sum(({ calls }) => calls),
    failures: sum(({ failures }) => failures),
    inFlight: sum(({ inFlight }) => inFlight),
    latencyMs: latencies.length === 0 ? null : latencies.reduce((total, one) => total + one, 0) / latencies.length,
    lastSuccessAt: latestOf(
      healths.map(({ lastSuccessAt }) => lastSuccessAt),
      (at) => at,
    ),
    lastFailure: latestOf(
      healths.map(({ lastFailure }) => lastFailure),
      ({ at }) => at,
    ),
  };
}

/** The item with the latest time; null without items. */
function latestOf<Item>(items: readonly (Item | null)[], timeOf: (item: Item) => Date): Item | null {
  let latest: Item | null = null;
  for (const item of items) if (item !== null && (latest === null || timeOf(item) > timeOf(latest))) latest = item;
  return latest;
}

/** Statuses below 500 that the deployment causes, not the caller: credentials, model names, rate limits, timeouts. */
const DEPLOYMENT_FAULTS = new Set([401, 403, 404, 408, 429]);

/**
 * Code of a failure for the health of its deployment: the upstream's status, `TIMEOUT` or `NO_ANSWER`. Null for a
 * failure that the deployment did not cause.
 */
export function healthFailureCode(failure: unknown): string | null {
  if (!(failure instanceof UpstreamFailed)) return null;
  const { timedOut, upstreamStatus } = failure;
  if (timedOut) return 'TIMEOUT';
  if (upstreamStatus === null) return 'NO_ANSWER';
  return upstreamStatus >= 500 || DEPLOYMENT_FAULTS.has(upstreamStatus) ? String(upstreamStatus) : null;
}
