import type { Calibration } from './auto-router.ts';

/** Distance that a probability keeps from 0 and 1, so that its log odds are finite. */
const CLIP = 1e-6;
/** Tolerance of comparisons of probabilities. */
const EPSILON = 1e-9;

/** A forecast with corrected log odds; the same forecast without a calibration. */
export function calibrated(probability: number, calibration: Calibration | null): number {
  if (calibration === null) return probability;
  const clipped = Math.min(Math.max(probability, CLIP), 1 - CLIP);
  const logit = Math.log(clipped / (1 - clipped));
  return 1 / (1 + Math.exp(-(calibration.slope * logit + calibration.intercept)));
}

/** Whether a number is at least `limit`, within the rounding of doubles. */
export const isAtLeast = (value: number, limit: number): boolean => value >= limit - EPSILON;
