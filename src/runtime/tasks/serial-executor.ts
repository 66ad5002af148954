import { setImmediate } from 'node:timers/promises';
import type { WorkQueueLimit } from './work-queue-limit.ts';

/** Runs short work, of a few milliseconds, on this thread. */
export interface SerialExecutor {
  /**
   * Runs work in its own turn of the event loop. `bytes` is its weight in the queue. Throws Unavailable when the
   * queue is full.
   */
  run<Result>(work: () => Result, bytes: number): Promise<Result>;
}

/** Runs one job per turn of the event loop, so that other work waits for at most one job at a time. */
export function createSerialExecutor(room: WorkQueueLimit): SerialExecutor {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async run(work, bytes) {
      const release = room.enter(bytes);
      try {
        const turn = last.then(() => setImmediate());
        // The next job waits for the turn of this job, not for its result, which may be a failure.
        last = turn;
        await turn;
        return work();
      } finally {
        release();
      }
    },
  };
}
