/** Work that a process repeats. */
export interface PeriodicTask {
  /** Name in the log and the metrics, in kebab case, e.g. `key-refresh`. */
  readonly name: string;
  /** Time from the end of a run to the start of the next, in ms. A function is called after each run. */
  readonly everyMs: number | (() => number);
  /** Delay of the first run, in ms; `everyMs` when absent. */
  readonly firstMs?: number;
  /**
   * Time in ms after which the signal of a run fires. The run fails when it then throws, or has not ended a few seconds
   * later. No deadline when absent.
   */
  readonly deadlineMs?: number;
  /** The signal fires at the deadline and when the task is stopped. */
  readonly run: (signal: AbortSignal) => void | Promise<void>;
}

/** A task that `Scheduler.every` started. */
export interface ScheduledTask {
  /**
   * Starts no further run and aborts the current one. Resolves when that run has ended, after a few seconds at the
   * latest.
   */
  stop(): Promise<void>;
}

/**
 * Runs periodic tasks. Runs of one task do not overlap, unless a run ignores the signal of its deadline. A failed run
 * is logged and counted, and the task runs again.
 */
export interface Scheduler {
  every(task: PeriodicTask): ScheduledTask;
}
