import { Unavailable } from '../../domain/errors.ts';

/** Capacity for queued and running work. */
export interface QueueCapacity {
  readonly waiting: number;
  readonly bytes: number;
}

/** Limits queued and running work, by number and by bytes. */
export interface WorkQueueLimit {
  /**
   * Acquires capacity and returns the function that releases it. Throws Unavailable when it is full. Work larger than
   * the whole capacity is admitted when the queue is empty.
   */
  enter(bytes: number): () => void;
}

export function createWorkQueueLimit(room: QueueCapacity): WorkQueueLimit {
  let runningWeight = { jobs: 0, bytes: 0 };
  return {
    enter(bytes) {
      const full = runningWeight.jobs >= room.waiting || runningWeight.bytes + bytes > room.bytes;
      if (runningWeight.jobs > 0 && full) throw new Unavailable('Too much is waiting to be read. Try again shortly.');
      runningWeight = { jobs: runningWeight.jobs + 1, bytes: runningWeight.bytes + bytes };
      return () => {
        runningWeight = { jobs: runningWeight.jobs - 1, bytes: runningWeight.bytes - bytes };
      };
    },
  };
}
