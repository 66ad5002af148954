import type { PeriodicTask, ScheduledTask, Scheduler } from '../../domain/scheduler.ts';
import { withDeadline } from '../../domain/with-deadline.ts';
import type { Log } from '../telemetry/log.ts';
import { runWithDeadline } from './run-with-deadline.ts';

/** Maximum time that a stop waits for an aborted run, in ms: below the timeout of a shutdown step. */
const STOP_MS = 4_000;

/** The scheduler of a process. */
export interface ProcessScheduler extends Scheduler {
  /** Failed runs since the start, by task. */
  failures(): ReadonlyMap<string, number>;
  /** Stops all tasks: see `ScheduledTask.stop`. */
  stop(): Promise<void>;
}

export function createScheduler(log: Pick<Log, 'warn'>): ProcessScheduler {
  const tasks = new Set<ScheduledTask>();
  const failures = new Map<string, number>();

  function failed(task: string, error: unknown): void {
    failures.set(task, (failures.get(task) ?? 0) + 1);
    log.warn({ err: error, task }, 'a periodic task failed; it runs again after its interval');
  }

  return {
    every(task) {
      const scheduled = schedule(task, {
        failed: (error) => failed(task.name, error),
        stopped: () => tasks.delete(scheduled),
        overdue: () =>
          log.warn({ task: task.name }, 'a periodic task did not end after its abort; the shutdown continues'),
      });
      tasks.add(scheduled);
      return scheduled;
    },
    failures: () => failures,
    async stop() {
      await Promise.all([...tasks].map((task) => task.stop()));
    },
  };
}

interface Events {
  readonly failed: (error: unknown) => void;
  readonly stopped: () => void;
  /** Called when a stop no longer waits for the current run. */
  readonly overdue: () => void;
}

function schedule(
  { everyMs, firstMs, deadlineMs, run }: PeriodicTask,
  { failed, stopped, overdue }: Events,
): ScheduledTask {
  const stopping = new AbortController();
  const { signal } = stopping;
  const delayMs = (): number => (typeof everyMs === 'number' ? everyMs : everyMs());
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let ending: Promise<void> | null = null;

  function runAfter(afterMs: number): void {
    timer = setTimeout(() => {
      running = runOnce().finally(() => {
        running = null;
      });
    }, afterMs).unref();
  }

  async function runOnce(): Promise<void> {
    try {
      await (deadlineMs === undefined ? run(signal) : runWithDeadline(run, { deadlineMs, signal }));
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    if (!signal.aborted) runAfter(delayMs());
  }

  async function end(): Promise<void> {
    stopping.abort();
    clearTimeout(timer);
    stopped();
    if (running !== null) await withDeadline(running, STOP_MS, overdue);
  }

  runAfter(firstMs ?? delayMs());
  return { stop: () => (ending ??= end()) };
}
