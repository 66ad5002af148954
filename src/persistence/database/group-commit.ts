import { availableParallelism } from 'node:os';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Unavailable } from '../../domain/errors.ts';

/** Size of a job, for the limits of the queue. A job has at least one row. */
export interface Weight {
  readonly rows: number;
  readonly bytes: number;
}

export interface GroupCommit<Job extends Weight, Result> {
  /**
   * Queues a job; settles with its commit. Rejects with Unavailable when the queue is full. When nothing is queued or
   * being committed, a job larger than the limit is accepted: transports limit the size of a request.
   */
  submit(job: Job): Promise<Result>;
  /**
   * Awaits the input of a job that the caller submits right afterwards. On one core, the next commit waits up to 10 ms
   * for this job.
   */
  awaitInput<Part>(input: Part | Promise<Part>): Promise<Part>;
  /** Resolves when nothing is queued or being committed. */
  idle(): Promise<void>;
}

interface Entry<Job, Result> {
  readonly job: Job;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum wait of a commit for jobs in preparation, on one core, in ms. */
const GATHER_MS = 10;

/**
 * Jobs that wait at the same time share one commit. The first job starts a commit at the end of its turn of the event
 * loop. Jobs that arrive during a commit form the next commit. On one core no job can be prepared during a commit, so a
 * commit waits up to 10 ms for jobs in preparation. When a shared commit fails, but not with Unavailable, every job is
 * retried alone, so that an invalid job does not fail the others.
 */
export function createGroupCommit<Job extends Weight, Result>({
  commit,
  limit,
  groupRows,
  cores = availableParallelism(),
}: {
  /** Stores all jobs or none; returns one result per job, in their order. */
  readonly commit: (jobs: readonly Job[]) => Promise<readonly Result[]>;
  /** Maximum rows and bytes that are queued or being committed. */
  readonly limit: Weight;
  /** Maximum rows of a commit with more than one job. */
  readonly groupRows: number;
  /** Number of cores. */
  readonly cores?: number;
}): GroupCommit<Job, Result> {
  let queue: Entry<Job, Result>[] = [];
  let queuedWeight: Weight = { rows: 0, bytes: 0 };
  let running: Promise<void> | null = null;
  /** Number of jobs whose input is awaited. */
  let inPreparation = 0;
  let recheck = (): void => {};

  /**
   * Whether the next commit waits for jobs in preparation. Called between commits, when `queuedWeight` counts the queue
   * only.
   */
  const mayGather = (): boolean => cores === 1 && inPreparation > 0 && queuedWeight.rows < groupRows;

  async function gather(): Promise<void> {
    if (!mayGather()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      recheck = () => {
        if (mayGather()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    recheck = () => {};
  }

  /** Takes the jobs of the next commit from the queue: as many as fit into `groupRows`, and at least one. */
  function nextGroup(): readonly Entry<Job, Result>[] {
    let rows = 0;
    const firstLeft = queue.findIndex(({ job }, position) => {
      rows += job.rows;
      return position > 0 && rows > groupRows;
    });
    const group = firstLeft === -1 ? queue : queue.slice(0, firstLeft);
    queue = firstLeft === -1 ? [] : queue.slice(firstLeft);
    return group;
  }

  async function settle(group: readonly Entry<Job, Result>[]): Promise<void> {
    try {
      const results = await commit(group.map(({ job }) => job));
      for (const [position, { resolve }] of group.entries()) resolve(results[position] as Result);
    } catch (error) {
      if (error instanceof Unavailable || group.length === 1) {
        // A store that cannot be reached fails all jobs: retries would only delay them.
        for (const { reject } of group) reject(error);
        return;
      }
      for (const entry of group) await settle([entry]);
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      // A commit on another thread may take the core of this thread. So the rest of this turn of the event loop runs
      // first: it sends answers, and its jobs join the commit.
      await endOfTurn();
      await gather();
      const group = nextGroup();
      await settle(group);
      const rows = group.reduce((total, { job }) => total + job.rows, 0);
      const bytes = group.reduce((total, { job }) => total + job.bytes, 0);
      queuedWeight = { rows: queuedWeight.rows - rows, bytes: queuedWeight.bytes - bytes };
    }
  }

  function start(): void {
    running ??= drain().finally(() => {
      running = null;
      if (queue.length > 0) start();
    });
  }

  async function idle(): Promise<void> {
    if (running === null) return;
    await running;
    await idle();
  }

  return {
    submit(job) {
      const rows = queuedWeight.rows + job.rows;
      const bytes = queuedWeight.bytes + job.bytes;
      if (queuedWeight.rows > 0 && (rows > limit.rows || bytes > limit.bytes))
        return Promise.reject(new Unavailable('Too much is waiting to be stored. Try again shortly.'));
      queuedWeight = { rows, bytes };
      return new Promise((resolve, reject) => {
        queue.push({ job, resolve, reject });
        recheck();
        start();
      });
    },
    async awaitInput(input) {
      inPreparation += 1;
      try {
        return await input;
      } finally {
        inPreparation -= 1;
        recheck();
      }
    },
    idle,
  };
}
