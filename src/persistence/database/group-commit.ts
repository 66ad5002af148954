import { availableParallelism } from 'node:os';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Unavailable } from '../../domain/errors.ts';

/** How much a job weighs against the bounds. */
export interface Weight {
  readonly rows: number;
  readonly bytes: number;
}

export interface GroupCommit<Job extends Weight, Result> {
  /**
   * Queues a job; settles with the commit that carried it. Throws Unavailable when the queue is full. A job
   * larger than the whole queue is taken when nothing else waits: the doors bound what one caller sends.
   */
  submit(job: Job): Promise<Result>;
  /** Hands on what a job is still being made of, to be submitted at once; until then commits may wait for it a moment. */
  expected<Part>(making: Part | Promise<Part>): Promise<Part>;
  /** Resolves when nothing is queued or being committed any more. */
  idle(): Promise<void>;
}

interface Entry<Job, Result> {
  readonly job: Job;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Longest that a commit waits for jobs that are being made, where none can be made while it runs. */
const GATHER_MS = 10;

/**
 * Jobs that wait at the same moment share one commit: the first starts a commit with the end of its turn of the event
 * loop, those that come while it runs form the next. On one core nothing is made meanwhile: there it waits a moment for what
 * is being made.
 * When a shared commit fails every job is tried again alone, so one that cannot be stored fails only itself.
 */
export function createGroupCommit<Job extends Weight, Result>({
  commit,
  limit,
  groupRows,
  cores = availableParallelism(),
}: {
  /** Stores the jobs, all or nothing; one result per job, in their order. */
  readonly commit: (jobs: readonly Job[]) => Promise<readonly Result[]>;
  /** Most that may be queued or in a running commit. */
  readonly limit: Weight;
  /** A commit takes further jobs until it has this many rows. */
  readonly groupRows: number;
  /** How many threads of this process run at once. */
  readonly cores?: number;
}): GroupCommit<Job, Result> {
  let queue: Entry<Job, Result>[] = [];
  let held: Weight = { rows: 0, bytes: 0 };
  let running: Promise<void> | null = null;
  let beingMade = 0;
  let look = (): void => {};

  /** While a commit is awaited, all that is held is in the queue. */
  const mayGather = (): boolean => cores === 1 && beingMade > 0 && held.rows < groupRows;

  async function gather(): Promise<void> {
    if (!mayGather()) return;
    await new Promise<void>((resolve) => {
      const patience = setTimeout(resolve, GATHER_MS);
      look = () => {
        if (mayGather()) return;
        clearTimeout(patience);
        resolve();
      };
    });
    look = () => {};
  }

  function nextGroup(): readonly Entry<Job, Result>[] {
    let rows = 0;
    const past = queue.findIndex(({ job }, position) => {
      rows += job.rows;
      return position > 0 && rows > groupRows;
    });
    const group = past === -1 ? queue : queue.slice(0, past);
    queue = past === -1 ? [] : queue.slice(past);
    return group;
  }

  async function settle(group: readonly Entry<Job, Result>[]): Promise<void> {
    try {
      const results = await commit(group.map(({ job }) => job));
      for (const [position, { resolve }] of group.entries()) resolve(results[position] as Result);
    } catch (error) {
      if (error instanceof Unavailable || group.length === 1) {
        // A store that is away is away for all: trying each alone would only make everyone wait longer.
        for (const { reject } of group) reject(error);
        return;
      }
      for (const entry of group) await settle([entry]);
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      // To hand a commit to a thread may give that thread our core: what is ready in this turn is done before, answers and
      // further jobs among it, and the jobs go along.
      await endOfTurn();
      await gather();
      const group = nextGroup();
      await settle(group);
      const rows = group.reduce((total, { job }) => total + job.rows, 0);
      const bytes = group.reduce((total, { job }) => total + job.bytes, 0);
      held = { rows: held.rows - rows, bytes: held.bytes - bytes };
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
      const rows = held.rows + job.rows;
      const bytes = held.bytes + job.bytes;
      if (held.rows > 0 && (rows > limit.rows || bytes > limit.bytes))
        return Promise.reject(new Unavailable('Too much is waiting to be stored. Try again shortly.'));
      held = { rows, bytes };
      return new Promise((resolve, reject) => {
        queue.push({ job, resolve, reject });
        look();
        start();
      });
    },
    async expected(making) {
      beingMade += 1;
      try {
        return await making;
      } finally {
        beingMade -= 1;
        look();
      }
    },
    idle,
  };
}
