import type { Clock } from '../domain/clock.ts';

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
