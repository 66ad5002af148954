import { setTimeout as wait } from 'node:timers/promises';

const DEADLINE_MS = 1_000;
/** Minimum number of failed reads before the deadline applies: on a loaded machine, the awaited work takes longer. */
const FEWEST_READS = 100;
const INTERVAL_MS = 5;

/** Resolves when `check` passes. Fails after a second and `FEWEST_READS` reads. */
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
