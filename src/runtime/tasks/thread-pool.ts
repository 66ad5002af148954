import { Worker } from 'node:worker_threads';
import { Unavailable } from '../../domain/errors.ts';
import type { WaitingRoom } from './work-queue-limit.ts';

/** Threads that do one task after the other, each. */
export interface ThreadPool<Task> {
  /**
   * Does a task on the next thread that is free. `bytes` is what it weighs while it waits. Throws Unavailable when
   * too much waits, or when the thread died of the task. Memory that is `given` moves to a thread that is free: it is
   * not copied, and gone here.
   */
  run<Result>(task: Task, bytes: number, given?: ArrayBuffer[]): Promise<Result>;
  /** Ends the threads; what they were doing fails. */
  close(): Promise<void>;
}

interface Job<Task> {
  readonly task: Task;
  readonly bytes: number;
  readonly given: ArrayBuffer[];
  readonly leave: () => void;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** What a thread answers to each task. */
type Answer = { readonly result: never } | { readonly failure: unknown };

interface Thread<Task> {
  readonly worker: Worker;
  /** What it was given, in the order in which it answers. */
  readonly jobs: Job<Task>[];
}

/**
 * A thread that has its next tasks at hand need not wait for us in between: we may be busy for as long as it takes to do
 * several of them.
 */
const MOST_GIVEN = 4;
/** What they may weigh together: behind a large one, small ones would wait while another thread becomes free. */
const MOST_GIVEN_BYTES = 1 << 20;

/** The memory of some bytes, to be given away; nothing where it holds more than these, or other threads share it. */
export function ownMemory({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

const hasRoom = (jobs: readonly { readonly bytes: number }[], more: number): boolean =>
  jobs.length < MOST_GIVEN && jobs.reduce((total, { bytes }) => total + bytes, more) <= MOST_GIVEN_BYTES;

/** Starts no thread before there is work for it. A thread that ends is replaced by the next task. */
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
  /** Bounds the tasks that wait or are done, and their bytes. */
  readonly room: WaitingRoom;
  /** The error that the module said, in its own words. */
  readonly errorFrom: (failure: unknown) => Error;
}): ThreadPool<Task> {
  const threads = new Set<Thread<Task>>();
  const queue: Job<Task>[] = [];
  let closed = false;

  function settle(thread: Thread<Task>, by: (job: Job<Task>) => void): void {
    const job = thread.jobs.shift();
    if (job === undefined) return;
    // A process with nothing else to do may end.
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
      // It died of the first; what was waiting behind that is done by another.
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

  /** One that does nothing, else a new one, else of those that have room beside what they do the one with least to do. */
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
    // Behind another its memory is copied: when the thread dies of that one, this one is to be done all the same.
    thread.worker.postMessage(job.task, thread.jobs.length === 1 ? job.given : []);
    next();
  }

  function refuseWaiting(): void {
    for (const { leave, reject } of queue.splice(0)) {
      leave();
      reject(new Unavailable('The process is ending.'));
    }
  }

  return {
    async run(task, bytes, given = []) {
      if (closed) throw new Unavailable('The process is ending.');
      const leave = room.enter(bytes);
      return new Promise((resolve, reject) => {
        queue.push({ task, bytes, given, leave, resolve, reject });
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
