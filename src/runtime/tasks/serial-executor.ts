import { setImmediate } from 'node:timers/promises';
import type { WaitingRoom } from './work-queue-limit.ts';

/** Does work of some milliseconds on this thread. */
export interface OneATurn {
  /** In a turn of the event loop of its own. `bytes` is what it weighs while it waits. Throws Unavailable when too much does. */
  run<Result>(work: () => Result, bytes: number): Promise<Result>;
}

/** However many ask at once, whoever else is served here waits for one of them at a time. */
export function createOneATurn(room: WaitingRoom): OneATurn {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async run(work, bytes) {
      const leave = room.enter(bytes);
      try {
        const own = last.then(() => setImmediate());
        // The next waits for the turn and not for the work, which has ended by then and may fail.
        last = own;
        await own;
        return work();
      } finally {
        leave();
      }
    },
  };
}
