import { setTimeout as wait } from 'node:timers/promises';

const DAY_MS = 86_400_000;
/** Longest time of one test that this guards, in ms. */
const NEAR_MS = 60_000;

/** Waits until midnight UTC has passed, when it is near: for a test that expects all of its calls on one day. */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < NEAR_MS) await wait(leftMs + 100);
}
