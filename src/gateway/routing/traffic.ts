import type { Clock } from '../../domain/clock.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import { type LatencySample, latencyOf, TIMEOUT_LATENCY_MS } from '../../domain/routing/latency-samples.ts';
import type { LatencyRule } from '../../domain/routing/selection-policy.ts';

/** Requests and tokens of a deployment in the current UTC minute. */
interface MinuteUse {
  readonly requests: number;
  readonly tokens: number;
}

/** Facts of an ended call that count for its deployment. */
interface EndedCall {
  readonly tokens: number;
  /** Duration of the call at this deployment, in ms; null for a call that did not complete. */
  readonly totalMs: number | null;
  /** Time to the first byte of a stream, in ms; null for other calls. */
  readonly firstTokenMs: number | null;
  readonly timedOut: boolean;
}

/**
 * Use and latency of deployments in this process. Nothing is counted until `turnOn`, because most policies need no
 * counts.
 */
export interface Traffic {
  isOn(): boolean;
  /** Starts counting. A repeated call has no effect. */
  turnOn(): void;
  /** Counts a request. */
  started(deploymentId: string): void;
  /** Counts the tokens of a call, and keeps its latency. */
  ended(deploymentId: string, call: EndedCall): void;
  useOf(deploymentId: string): MinuteUse;
  /** Latency in ms; 0 without samples. `isFirstToken` selects the time to the first byte of streams. */
  latencyOf(deploymentId: string, rule: LatencyRule, isFirstToken: boolean): number;
  /** Seconds until the next UTC minute, from 1 to 60. */
  secondsLeft(): number;
}

interface Counts {
  /** Number of the UTC minute to which `requests` and `tokens` belong. */
  minute: number;
  requests: number;
  tokens: number;
  readonly latencies: LatencySample[];
  readonly firstTokens: LatencySample[];
}

const MINUTE_MS = 60_000;
const NO_USE: MinuteUse = { requests: 0, tokens: 0 };
/** Maximum number of samples of each kind for a deployment. */
const MAX_SAMPLES = 1_000;
/** Maximum number of deployments with counts. The deployment that was counted first is evicted. */
const MAX_DEPLOYMENTS = 10_000;

export function createTraffic(clock: Clock): Traffic {
  let isOn = false;
  const countsById = new Map<string, Counts>();
  const minuteNow = (): number => Math.floor(clock.now().getTime() / MINUTE_MS);

  /** Counts of a deployment. Starts the current minute with zero. */
  function countsOf(id: string): Counts {
    const minute = minuteNow();
    let counts = countsById.get(id);
    if (counts === undefined) {
      counts = { minute, requests: 0, tokens: 0, latencies: [], firstTokens: [] };
      countsById.set(id, counts);
      evictOldest(countsById, MAX_DEPLOYMENTS);
    } else if (counts.minute !== minute) Object.assign(counts, { minute, requests: 0, tokens: 0 });
    return counts;
  }

  function keep(samples: LatencySample[], latencyMs: number): void {
    samples.push({ atMs: clock.monotonicMs(), latencyMs });
    if (samples.length > MAX_SAMPLES) samples.shift();
  }

  return {
    isOn: () => isOn,
    turnOn() {
      isOn = true;
    },
    started(id) {
      if (isOn) countsOf(id).requests += 1;
    },
    ended(id, { tokens, totalMs, firstTokenMs, timedOut }) {
      if (!isOn) return;
      const counts = countsOf(id);
      counts.tokens += tokens;
      if (timedOut) {
        keep(counts.latencies, TIMEOUT_LATENCY_MS);
        keep(counts.firstTokens, TIMEOUT_LATENCY_MS);
      } else if (firstTokenMs !== null) keep(counts.firstTokens, firstTokenMs);
      else if (totalMs !== null) keep(counts.latencies, totalMs);
    },
    useOf(id) {
      const counts = countsById.get(id);
      return counts === undefined || counts.minute !== minuteNow() ? NO_USE : counts;
    },
    latencyOf(id, rule, isFirstToken) {
      const counts = countsById.get(id);
      const samples = isFirstToken ? counts?.firstTokens : counts?.latencies;
      return latencyOf(samples ?? [], rule, { nowMs: clock.monotonicMs(), isFirstToken });
    },
    secondsLeft() {
      const passedMs = clock.now().getTime() % MINUTE_MS;
      return Math.ceil((MINUTE_MS - passedMs) / 1_000);
    },
  };
}
