import type { LatencyRule } from './selection-policy.ts';

/** A measured latency. */
export interface LatencySample {
  /** Time of the measurement, by a monotonic clock. */
  readonly atMs: number;
  readonly latencyMs: number;
}

/** Latency of a call that timed out, in ms. It is high, so that a deployment that never answers comes last. */
export const TIMEOUT_LATENCY_MS = 1_000_000;

/**
 * Latency of a deployment in ms, from its latest samples: their mean, or a percentile of first-token latencies. 0
 * without samples, so that a new deployment is called. `samples` have the latest one last.
 */
export function latencyOf(
  samples: readonly LatencySample[],
  { samples: maxSamples, ttlSeconds, firstTokenPercentile }: LatencyRule,
  about: { readonly nowMs: number; readonly isFirstToken: boolean },
): number {
  const oldestMs = about.nowMs - ttlSeconds * 1_000;
  const latest = samples
    .slice(-maxSamples)
    .filter(({ atMs }) => atMs >= oldestMs)
    .map(({ latencyMs }) => latencyMs);
  if (latest.length === 0) return 0;
  if (!about.isFirstToken || firstTokenPercentile === null)
    return latest.reduce((sum, value) => sum + value, 0) / latest.length;
  const sorted = latest.toSorted((left, right) => left - right);
  const rank = Math.ceil(firstTokenPercentile * sorted.length);
  return sorted[Math.min(rank, sorted.length) - 1] ?? 0;
}
