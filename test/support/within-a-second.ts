import { setTimeout as wait } from 'node:timers/promises';

const DEADLINE_MS = 1_000;
/** Minimum number of failed checks before the deadline applies: on a loaded machine, the awaited work takes longer. */
const MIN_CHECKS = 100;
const INTERVAL_MS = 5;

/** Resolves when `check` passes. Throws its error after `MIN_CHECKS` checks, but not within the first second. */
export async function withinASecond(check: () => unknown): Promise<void> {
  const begunMs = performance.now();
  for (let checks = 1; ; checks += 1)
    try {
      await check();
      return;
    } catch (error) {
      if (checks >= MIN_CHECKS && performance.now() - begunMs >= DEADLINE_MS) throw error;
      await wait(INTERVAL_MS);
    }
}
