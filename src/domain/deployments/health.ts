import { UpstreamFailed } from '../errors.ts';

export const HEALTH_STATES = ['healthy', 'degraded', 'failing', 'unknown'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** How calls to a deployment have gone in this process, since it started. Calls a caller spoiled are in none of these. */
export interface Health {
  readonly state: HealthState;
  /** Calls that have ended, failures included. */
  readonly calls: number;
  readonly failures: number;
  readonly inFlight: number;
  /** Milliseconds to the head of an answer, the latest weighing most; null before the first. */
  readonly latencyMs: number | null;
  readonly lastSuccessAt: Date | null;
  readonly lastFailure: { readonly at: Date; readonly code: string } | null;
}

/** How one call went, and when it ended. */
export interface Ended {
  readonly atMs: number;
  readonly well: boolean;
}

/** What the state looks back on: so many calls, no longer ago than that. */
export const RECENT_CALLS = 20;
export const RECENT_MS = 300_000;
/** Shares of failures from which on a deployment is failing, or degraded. */
const FAILING = 0.5;
const DEGRADED = 0.1;

/**
 * Of the last twenty calls that ended within five minutes: failing when half of them failed, degraded when a tenth did,
 * else healthy. Unknown when there were none.
 */
export function stateOf(ended: readonly Ended[], nowMs: number): HealthState {
  const recent = ended.filter(({ atMs }) => nowMs - atMs <= RECENT_MS).slice(-RECENT_CALLS);
  if (recent.length === 0) return 'unknown';
  const share = recent.filter(({ well }) => !well).length / recent.length;
  if (share >= FAILING) return 'failing';
  return share >= DEGRADED ? 'degraded' : 'healthy';
}

/** The state of several as one: what all of those are of which something is known, else degraded. */
export function jointState(states: readonly HealthState[]): HealthState {
  const [first = 'unknown', ...others] = [...new Set(states.filter((state) => state !== 'unknown'))];
  return others.length === 0 ? first : 'degraded';
}

/** Several as one: counts summed, the latest of each time, and how long they take in the mean. */
export function jointHealth(healths: readonly Health[]): Health {
  const latencies = healths.flatMap(({ latencyMs }) => latencyMs ?? []);
  const sum = (of: (health: Health) => number): number => healths.reduce((total, health) => total + of(health), 0);
  return {
    state: jointState(healths.map(({ state }) => state)),
    calls: sum(({ calls }) => calls),
    failures: sum(({ failures }) => failures),
    inFlight: sum(({ inFlight }) => inFlight),
    latencyMs: latencies.length === 0 ? null : latencies.reduce((total, one) => total + one, 0) / latencies.length,
    lastSuccessAt: latest(healths.map(({ lastSuccessAt }) => lastSuccessAt)),
    lastFailure: healths
      .map(({ lastFailure }) => lastFailure)
      .reduce((left, right) => ((right?.at.getTime() ?? -1) > (left?.at.getTime() ?? -1) ? right : left), null),
  };
}

const latest = (dates: readonly (Date | null)[]): Date | null =>
  dates.reduce((left, right) => ((right?.getTime() ?? -1) > (left?.getTime() ?? -1) ? right : left), null);

/** Statuses below 500 that are no fault of the caller: a credential or a name of ours, a limit of theirs, no time. */
const OURS = new Set([401, 403, 404, 408, 429]);

/** What a failure says of the deployment: its status, `TIMEOUT` or `NO_ANSWER`; null where it says nothing. */
export function faultOf(failure: unknown): string | null {
  if (!(failure instanceof UpstreamFailed)) return null;
  const { timedOut, upstreamStatus } = failure;
  if (timedOut) return 'TIMEOUT';
  if (upstreamStatus === null) return 'NO_ANSWER';
  return upstreamStatus >= 500 || OURS.has(upstreamStatus) ? String(upstreamStatus) : null;
}
