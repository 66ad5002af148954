import type { LatencyRule } from './selection-policy.ts';

/** A measured latency in ms, and the time of the measurement in ms of a monotonic clock. */
export interface LatencySample {
  readonly atMs: number;
  readonly latencyMs: number;
}

/** Latency that a timeout counts as, in ms, so that a deployment that never answers is not the fastest one. */
export const TIMEOUT_LATENCY_MS = 1_000_000;

/**
 * Latency of a deployment: the mean of its latest samples, or a percentile. 0 without samples, so that a new deployment
 * is called.
 */
export function latencyOf(
  samples: readonly LatencySample[],
  { samples: most, ttlSeconds, firstTokenPercentile }: LatencyRule,
  about: { readonly nowMs: number; readonly isFirstToken: boolean },
): number {
  const oldestMs = about.nowMs - ttlSeconds * 1_000;
  const latest = samples
    .slice(-most)
    .filter(({ atMs }) => atMs >= oldestMs)
    .map(({ latencyMs }) => latencyMs);
  if (latest.length === 0) return 0;
  if (!about.isFirstToken || firstTokenPercentile === null)
    return latest.reduce((sum, value) => sum + value, 0) / latest.length;
  const sorted = latest.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length, Math.ceil(firstTokenPercentile * sorted.length)) - 1] ?? 0;
}
