import type { Calibration } from './auto-router.ts';

/** Probabilities are clipped to `CLIP` … `1 - CLIP`, so that their log odds are finite. */
const CLIP = 1e-6;
/** Tolerance for rounding errors in comparisons of probabilities. */
const EPSILON = 1e-9;

/** Applies a calibration to a probability. Without a calibration, returns the probability unchanged. */
export function calibrated(probability: number, calibration: Calibration | null): number {
  if (calibration === null) return probability;
  const clipped = Math.min(Math.max(probability, CLIP), 1 - CLIP);
  const logOdds = Math.log(clipped / (1 - clipped));
  const corrected = calibration.slope * logOdds + calibration.intercept;
  return 1 / (1 + Math.exp(-corrected));
}

/** Whether `value` is at least `limit`. A shortfall by a rounding error counts as equal. */
export const isAtLeast = (value: number, limit: number): boolean => value >= limit - EPSILON;
