import { Unavailable } from '../../domain/errors.ts';

/** Capacity for queued and running work. */
export interface QueueCapacity {
  /** Maximum number of queued and running tasks. */
  readonly tasks: number;
  /** Maximum sum of their bytes. */
  readonly bytes: number;
}

/** Limits the queued and running work on trace exports, by number and by bytes. */
export interface WorkQueueLimit {
  /**
   * Acquires capacity and returns the function that releases it. Throws Unavailable when the capacity is used up. Work
   * larger than the whole capacity is admitted when no other work is queued or running.
   */
  enter(bytes: number): () => void;
}

export function createWorkQueueLimit(capacity: QueueCapacity): WorkQueueLimit {
  let load = { tasks: 0, bytes: 0 };
  return {
    enter(bytes) {
      const isFull = load.tasks >= capacity.tasks || load.bytes + bytes > capacity.bytes;
      if (load.tasks > 0 && isFull)
        throw new Unavailable('Too many exports are waiting to be read. Try again shortly.');
      load = { tasks: load.tasks + 1, bytes: load.bytes + bytes };
      return () => {
        load = { tasks: load.tasks - 1, bytes: load.bytes - bytes };
      };
    },
  };
}
