import { Worker } from 'node:worker_threads';
import { Unavailable } from '../../domain/errors.ts';
import type { WorkQueueLimit } from './work-queue-limit.ts';

/** Pool of worker threads with a task queue. */
export interface ThreadPool<Task> {
  /**
   * Runs a task on the next free thread. `bytes` is its weight in the queue. Throws Unavailable when the queue is full,
   * or when the task ended the thread. Buffers in `transferred` are transferred to an idle thread without a copy.
   */
  run<Result>(task: Task, bytes: number, transferred?: ArrayBuffer[]): Promise<Result>;
  /** Terminates the threads; running tasks fail. */
  close(): Promise<void>;
}

interface Job<Task> {
  readonly task: Task;
  readonly bytes: number;
  readonly transferred: ArrayBuffer[];
  readonly leave: () => void;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Answer of a thread to each task. */
type Answer = { readonly result: never } | { readonly failure: unknown };

interface Thread<Task> {
  readonly worker: Worker;
  /** Its tasks, in the order of its answers. */
  readonly jobs: Job<Task>[];
}

/** Most tasks per thread. Queued tasks keep a thread busy while this thread is. */
const MOST_GIVEN = 4;
/**
 * Most bytes of the tasks of one thread: small tasks should not queue behind a large one while another thread gets
 * free.
 */
const MOST_GIVEN_BYTES = 1 << 20;

/** The buffer of a view, as a transfer list; empty when the buffer is shared or contains other bytes. */
export function transferableBuffer({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

const hasRoom = (jobs: readonly { readonly bytes: number }[], more: number): boolean =>
  jobs.length < MOST_GIVEN && jobs.reduce((total, { bytes }) => total + bytes, more) <= MOST_GIVEN_BYTES;

/** Starts threads on demand. A thread that ended is replaced with the next task. */
export function createThreadPool<Task>({
  module,
  workerData,
  threads: mostThreads,
  heapMiB,
  room,
  errorFrom,
}: {
  readonly module: URL;
  readonly workerData: unknown;
  readonly threads: number;
  readonly heapMiB: number;
  /** Limits queued and running tasks, and their bytes. */
  readonly room: WorkQueueLimit;
  /** Converts a failure of the module to an error. */
  readonly errorFrom: (failure: unknown) => Error;
}): ThreadPool<Task> {
  const threads = new Set<Thread<Task>>();
  const queue: Job<Task>[] = [];
  let closed = false;

  function settle(thread: Thread<Task>, by: (job: Job<Task>) => void): void {
    const job = thread.jobs.shift();
    if (job === undefined) return;
    // An idle pool does not keep the process alive.
    if (thread.jobs.length === 0) thread.worker.unref();
    job.leave();
    by(job);
  }

  function start(): Thread<Task> {
    const worker = new Worker(module, { workerData, resourceLimits: { maxOldGenerationSizeMb: heapMiB } });
    const thread: Thread<Task> = { worker, jobs: [] };
    worker.on('message', (answer: Answer) => {
      settle(thread, (job) =>
        'failure' in answer ? job.reject(errorFrom(answer.failure)) : job.resolve(answer.result),
      );
      next();
    });
    const ended = (cause?: unknown): void => {
      threads.delete(thread);
      // The first task failed with the thread; the queued ones move to another thread.
      queue.unshift(...thread.jobs.splice(1));
      settle(thread, ({ reject }) =>
        reject(new Unavailable('The work could not be done on its thread.', undefined, { cause })),
      );
      if (closed) refuseWaiting();
      else next();
    };
    worker.on('error', ended);
    worker.on('exit', () => ended());
    threads.add(thread);
    return thread;
  }

  /** An idle thread, else a new one, else the least loaded one with capacity. */
  function nextThread(bytes: number): Thread<Task> | undefined {
    const withRoom = [...threads].filter(({ jobs }) => jobs.length === 0 || hasRoom(jobs, bytes));
    const [freest] = withRoom.toSorted((left, right) => left.jobs.length - right.jobs.length);
    return threads.size < mostThreads && freest?.jobs.length !== 0 ? start() : freest;
  }

  function next(): void {
    const [job] = queue;
    if (job === undefined) return;
    const thread = nextThread(job.bytes);
    if (thread === undefined) return;
    queue.shift();
    thread.jobs.push(job);
    thread.worker.ref();
    // Behind another task its memory is copied, so that the task can be repeated when the other one ends the thread.
    thread.worker.postMessage(job.task, thread.jobs.length === 1 ? job.transferred : []);
    next();
  }

  function refuseWaiting(): void {
    for (const { leave, reject } of queue.splice(0)) {
      leave();
      reject(new Unavailable('The process is ending.'));
    }
  }

  return {
    async run(task, bytes, transferred = []) {
      if (closed) throw new Unavailable('The process is ending.');
      const leave = room.enter(bytes);
      return new Promise((resolve, reject) => {
        queue.push({ task, bytes, transferred, leave, resolve, reject });
        next();
      });
    },
    async close() {
      closed = true;
      refuseWaiting();
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}
