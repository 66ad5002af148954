import { Unavailable } from '../domain/errors.ts';
import { reaching } from './faults.ts';

/** Knows what is under way, so that a database is closed under nobody's feet. */
export interface InFlight {
  /** Runs work against the database. Throws Unavailable when the database is away, or ours is closing. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Takes no more work; resolves when what had begun is done. */
  drain(): Promise<void>;
}

export function createInFlight(): InFlight {
  const running = new Set<Promise<unknown>>();
  let draining = false;
  return {
    async run(work) {
      if (draining) throw new Unavailable('The store is closing.');
      const ending = reaching(work);
      running.add(ending);
      try {
        return await ending;
      } finally {
        running.delete(ending);
      }
    },
    async drain() {
      draining = true;
      await Promise.allSettled(running);
    },
  };
}
