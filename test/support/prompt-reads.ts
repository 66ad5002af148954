import { setTimeout as wait } from 'node:timers/promises';

const DEADLINE_MS = 1_000;
/** Number of failed reads before the deadline counts: on a loaded machine each read takes longer, and so does what it waits for. */
const FEWEST_READS = 100;
const INTERVAL_MS = 5;

/** Resolves when `check` passes within a second. Fails when the second is over and enough reads have been made. */
export async function withinASecond(check: () => unknown): Promise<void> {
  const begunMs = performance.now();
  for (let reads = 1; ; reads += 1)
    try {
      await check();
      return;
    } catch (error) {
      if (reads >= FEWEST_READS && performance.now() - begunMs >= DEADLINE_MS) throw error;
      await wait(INTERVAL_MS);
    }
}
