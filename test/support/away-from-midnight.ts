import { setTimeout as wait } from 'node:timers/promises';

const DAY_MS = 86_400_000;
/** Longest duration of a guarded test, in ms. */
const NEAR_MS = 60_000;

/**
 * Waits until midnight UTC has passed, if midnight is less than `NEAR_MS` away. For tests that expect all calls on
 * one UTC day.
 */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < NEAR_MS) await wait(leftMs + 100);
}
