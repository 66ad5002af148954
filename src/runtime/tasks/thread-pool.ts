import type * as Library from 'piscina';
import { Unavailable } from '../../domain/errors.ts';
import type { WorkQueueLimit } from './work-queue-limit.ts';

/** Pool of worker threads with a bounded task queue. */
export interface ThreadPool<Task extends object> {
  /**
   * Runs a task on the next free thread. `bytes` is its weight in the queue. Throws Unavailable when the queue is full,
   * after `close`, and when no thread completes the task. When the work on the thread fails, throws the error of that
   * failure. Buffers in `transferred` are transferred to the thread without a copy.
   */
  run<Result>(task: Task, bytes: number, transferred?: readonly ArrayBuffer[]): Promise<Result>;
  /** Terminates the threads; running tasks fail. */
  close(): Promise<void>;
}

/** What a thread answers to a task. Failures are values, because structured cloning loses the class of an error. */
export type ThreadAnswer<Result = never, Failure = unknown> =
  | { readonly result: Result }
  | { readonly failure: Failure };

/** A started pool. */
interface Threads<Task> {
  run(task: Task, transferred: readonly ArrayBuffer[]): Promise<ThreadAnswer>;
  end(): Promise<void>;
}

/** Idle time after which a thread beyond the first one ends. */
const IDLE_MS = 60_000;

/** The buffer of a view, as a transfer list; empty when the buffer is shared or contains other bytes. */
export function transferableBuffer({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

/**
 * A pool of `piscina`. The first task starts it, so that a process without large exports has no thread. `module` is the
 * module that the threads run: it exports `answerTo`, a function from a task to a `ThreadAnswer`. A thread that ends
 * during a task is replaced, and only its task fails. After a failed start, or when a thread ends without a task, all
 * tasks of the pool fail. The next task starts the pool again.
 */
export function createThreadPool<Task extends object>({
  module,
  workerData,
  threads,
  heapMiB,
  room,
  errorFrom,
  loadLibrary = () => import('piscina'),
}: {
  readonly module: URL;
  readonly workerData: unknown;
  readonly threads: number;
  readonly heapMiB: number;
  /** Limits queued and running tasks, and their bytes. */
  readonly room: WorkQueueLimit;
  /** Converts a failure that `answerTo` returns to the error that `run` throws. */
  readonly errorFrom: (failure: unknown) => Error;
  readonly loadLibrary?: () => Promise<typeof Library>;
}): ThreadPool<Task> {
  let pool: Promise<Threads<Task>> | null = null;
  let closed = false;

  /** `lost` is called when a thread ends without a task. */
  async function start(lost: () => void): Promise<Threads<Task>> {
    const library = await loadLibrary();
    const piscina = new library.Piscina<unknown, ThreadAnswer>({
      filename: module.href,
      name: 'answerTo',
      workerData,
      // The first thread stays, however long it is idle.
      minThreads: 1,
      maxThreads: threads,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
      recordTiming: false,
    });
    // Emitted when a thread ends without a task, for example at its start. The library would never run the queued
    // tasks.
    piscina.on('error', () => {
      lost();
      void piscina.destroy();
    });
    return {
      async run(task, transferred) {
        const transferable = library.move({ [library.transferableSymbol]: transferred, [library.valueSymbol]: task });
        return piscina.run(transferable);
      },
      end: async () => piscina.destroy(),
    };
  }

  function startedPool(): Promise<Threads<Task>> {
    if (pool !== null) return pool;
    const starting = start(forgetPool);
    pool = starting;
    starting.catch(forgetPool);
    return starting;

    function forgetPool(): void {
      if (pool === starting) pool = null;
    }
  }

  async function answerOfThread(task: Task, transferred: readonly ArrayBuffer[]): Promise<ThreadAnswer> {
    try {
      const startedThreads = await startedPool();
      if (closed) throw new Error('The pool of worker threads is closed.');
      return await startedThreads.run(task, transferred);
    } catch (cause) {
      const reason = closed ? 'The process is ending.' : 'The work could not be done on its thread.';
      throw new Unavailable(reason, undefined, { cause });
    }
  }

  return {
    async run(task, bytes, transferred = []) {
      if (closed) throw new Unavailable('The process is ending.');
      const release = room.enter(bytes);
      try {
        const answer = await answerOfThread(task, transferred);
        if ('failure' in answer) throw errorFrom(answer.failure);
        return answer.result;
      } finally {
        release();
      }
    },
    async close() {
      closed = true;
      const started = await pool?.catch(() => null);
      await started?.end();
    },
  };
}
