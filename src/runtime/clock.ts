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

/** Length of the slices into which `unblockedPause` divides its wait, in ms. */
const SLICE_MS = 250;
/** After this multiple of its length, `unblockedPause` also counts slices in which the event loop was blocked. */
const MAX_FACTOR = 3;

/**
 * As `pause`, but does not count time in which the event loop was blocked. After a block, a timer fires before the
 * replies that have arrived are read, so that a deadline would pass although its reply is there.
 */
export async function unblockedPause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + MAX_FACTOR * milliseconds;
  let leftMs = milliseconds;
  while (leftMs > 0) {
    const startMs = performance.now();
    const sliceMs = Math.min(SLICE_MS, leftMs);
    await pause(sliceMs, signal);
    const isLate = performance.now() - startMs > 2 * SLICE_MS;
    if (!isLate || performance.now() > endMs) leftMs -= sliceMs;
  }
}
