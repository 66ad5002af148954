import { Unavailable } from '../../domain/errors.ts';
import { withDomainErrors, retryLostRead } from './faults.ts';
import type { WriteHealth } from './write-health.ts';

/** Tracks the work in flight, so that the database is closed only after this work has ended. */
export interface InFlight {
  /** Runs work. Throws Unavailable when the database cannot be reached, or is closing. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** As `run`, for a read that gateway calls wait for: it is retried twice while its connection is lost. */
  read<Result>(work: () => Promise<Result>): Promise<Result>;
  /** As `run`, for work that writes. Its outcome counts for the readiness of the process. */
  write<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Refuses new work; resolves when all running work has ended. */
  drain(): Promise<void>;
}

/** `writes` receives the outcome of each write. */
export function createInFlight(writes?: Pick<WriteHealth, 'succeeded' | 'failed'>): InFlight {
  const running = new Set<Promise<unknown>>();
  let draining = false;
  async function track<Result>(work: () => Promise<Result>): Promise<Result> {
    const ending = withDomainErrors(work);
    running.add(ending);
    try {
      return await ending;
    } finally {
      running.delete(ending);
    }
  }
  function refuseWhileDraining(): void {
    if (draining) throw new Unavailable('The store is closing.');
  }
  return {
    async run(work) {
      refuseWhileDraining();
      return track(work);
    },
    async read(work) {
      refuseWhileDraining();
      return track(() => retryLostRead(work));
    },
    async write(work) {
      refuseWhileDraining();
      try {
        const result = await track(work);
        writes?.succeeded();
        return result;
      } catch (error) {
        writes?.failed(error);
        throw error;
      }
    },
    async drain() {
      draining = true;
      await Promise.allSettled(running);
    },
  };
}
