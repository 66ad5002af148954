import type { Clock } from '../../domain/clock.ts';
import {
  type EndedCall,
  healthFailureCode,
  type Health,
  RECENT_CALLS,
  healthStateOf,
} from '../../domain/deployments/health.ts';

/** Reports the progress of one call to the health of its deployment. */
export interface TrackedCall {
  /** The response head arrived, `afterMs` after the start of the attempt. */
  recordFirstByte(afterMs: number): void;
  /** Ends the call. Must be called once. `failure` is null for success. */
  ended(failure: unknown): void;
}

/** A call that is counted for its deployment. */
class HealthCall implements TrackedCall {
  readonly #stats: Stats;
  readonly #clock: Clock;
  #hasAnswered = false;

  constructor(stats: Stats, clock: Clock) {
    this.#stats = stats;
    this.#clock = clock;
    stats.inFlight += 1;
  }

  recordFirstByte(afterMs: number): void {
    const { latencyMs } = this.#stats;
    this.#hasAnswered = true;
    this.#stats.latencyMs = latencyMs === null ? afterMs : latencyMs + WEIGHT * (afterMs - latencyMs);
  }

  ended(failure: unknown): void {
    this.#stats.inFlight -= 1;
    const fault = failure === null || failure === undefined ? null : healthFailureCode(failure);
    // A refused call, or a disconnect before the response, is no evidence about the deployment.
    if (fault !== null || this.#hasAnswered) count(this.#stats, fault, this.#clock);
  }
}

/** Tracks the results of calls per deployment. */
export interface HealthTracker {
  begin(deploymentId: string): TrackedCall;
  of(deploymentId: string): Health;
  /** Calls that are under way. */
  inFlight(deploymentId: string): number;
}

/** Weight of the latest call in the moving average of the latency. */
const WEIGHT = 0.2;

interface Stats {
  calls: number;
  failures: number;
  inFlight: number;
  latencyMs: number | null;
  lastSuccessAt: Date | null;
  lastFailure: Health['lastFailure'];
  readonly recent: EndedCall[];
}

function count(stats: Stats, fault: string | null, clock: Clock): void {
  stats.calls += 1;
  stats.recent.push({ atMs: clock.monotonicMs(), succeeded: fault === null });
  if (stats.recent.length > RECENT_CALLS) stats.recent.shift();
  if (fault === null) stats.lastSuccessAt = clock.now();
  else {
    stats.failures += 1;
    stats.lastFailure = { at: clock.now(), code: fault };
  }
}

/** Counts in memory, by deployment id. Nothing is evicted: callers cannot choose ids, so their number stays small. */
export function createHealthTracker(clock: Clock): HealthTracker {
  const statsById = new Map<string, Stats>();

  function statsOf(id: string): Stats {
    let stats = statsById.get(id);
    if (stats === undefined) {
      stats = {
        calls: 0,
        failures: 0,
        inFlight: 0,
        latencyMs: null,
        lastSuccessAt: null,
        lastFailure: null,
        recent: [],
      };
      statsById.set(id, stats);
    }
    return stats;
  }

  return {
    begin: (id) => new HealthCall(statsOf(id), clock),
    inFlight: (id) => statsById.get(id)?.inFlight ?? 0,
    of(id) {
      const { recent, ...stats } = statsOf(id);
      return { ...stats, state: healthStateOf(recent, clock.monotonicMs()) };
    },
  };
}
