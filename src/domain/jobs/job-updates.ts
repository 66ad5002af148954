import { type Job, type JobStore, queuedJob } from './job.ts';

/**
 * The store, which also calls `changed` with each job after its state changed through the returned store. Extended
 * leases and removed jobs are not reported. `add` calls `changed` also when the id was taken.
 */
export function withJobUpdates(store: JobStore, changed: (job: Job) => void): JobStore {
  async function reread(id: string): Promise<void> {
    const [job] = await store.findMany([id]);
    if (job !== undefined) changed(job);
  }
  function announced(job: Job | null): Job | null {
    if (job !== null) changed(job);
    return job;
  }
  return {
    ...store,
    async add(job, now) {
      await store.add(job, now);
      await reread(job.id);
    },
    async addIfIdle(job, now) {
      const isAdded = await store.addIfIdle(job, now);
      if (isAdded) changed(queuedJob(job, now));
      return isAdded;
    },
    claim: async (wanted) => announced(await store.claim(wanted)),
    async end(claim, ending, now) {
      const isEnded = await store.end(claim, ending, now);
      if (isEnded) await reread(claim.id);
      return isEnded;
    },
    retry: async (claim, delayed, now) => announced(await store.retry(claim, delayed, now)),
    cancel: async (id, now) => announced(await store.cancel(id, now)),
    async markDead(claim, error, now) {
      const isMarked = await store.markDead(claim, error, now);
      if (isMarked) await reread(claim.id);
      return isMarked;
    },
  };
}
