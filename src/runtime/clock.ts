import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';

/** System time. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};

/** Waits. Rejects with the signal's reason when it fires first. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    await setTimeout(milliseconds, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** Length of a slice of an unblocked pause, in ms. */
const SLICE_MS = 250;
/** After this multiple of its length, an unblocked pause also counts slices in which the event loop was blocked. */
const MAX_FACTOR = 3;

/**
 * As `pause`, without the time in which the event loop was blocked: after a block, a timer fires before replies that
 * have arrived are read. Rejects as `pause`.
 */
export async function unblockedPause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + MAX_FACTOR * milliseconds;
  for (let leftMs = milliseconds; leftMs > 0;) {
    const startMs = performance.now();
    const sliceMs = Math.min(SLICE_MS, leftMs);
    await pause(sliceMs, signal);
    const isLate = performance.now() - startMs > 2 * SLICE_MS;
    if (!isLate || performance.now() > endMs) leftMs -= sliceMs;
  }
}
