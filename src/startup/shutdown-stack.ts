import type { Log } from '../runtime/telemetry/log.ts';

/** Default deadline of a step, in ms. */
const STEP_MS = 5_000;

/**
 * A deadline is measured by this number of short timers. During a stall of the process only one of them ends, so that
 * the work has time to finish after the stall.
 */
const DEADLINE_TIMERS = 10;

/** One step of the shutdown. */
interface ShutdownStep {
  /** Name of the released part, for the log, e.g. `stores`. */
  readonly name: string;
  /** `graceMs` is how long requests in flight may take. */
  readonly run: (graceMs: number) => unknown;
  readonly deadlineMs: (graceMs: number) => number;
}

/** Resources that were opened at start, released in reverse order. */
export interface ShutdownStack {
  /** Adds a step that runs before all steps added earlier. `deadlineMs` defaults to 5 seconds. */
  add(name: string, run: ShutdownStep['run'], deadlineMs?: (graceMs: number) => number): void;
  /**
   * Runs every step, the latest first. A step that fails or exceeds its deadline is logged, and the rest still run. A
   * second call returns the result of the first. Rejects in the end with the names of the steps that failed.
   */
  stop(graceMs: number): Promise<void>;
}

export function createShutdownStack(log: Pick<Log, 'error'>): ShutdownStack {
  const steps: ShutdownStep[] = [];
  let stopped: Promise<void> | null = null;

  async function runAll(graceMs: number): Promise<void> {
    const failed: string[] = [];
    for (const { name, run, deadlineMs } of steps.toReversed()) {
      try {
        await withDeadline(async () => run(graceMs), deadlineMs(graceMs));
      } catch (error) {
        failed.push(name);
        log.error({ err: error, step: name }, 'a step of the shutdown failed');
      }
    }
    if (failed.length > 0) throw new Error(`Steps of the shutdown failed: ${failed.join(', ')}.`);
  }

  return {
    add(name, run, deadlineMs = () => STEP_MS) {
      steps.push({ name, run, deadlineMs });
    },
    stop: (graceMs) => (stopped ??= runAll(graceMs)),
  };
}

/** Rejects when the work takes longer; the work itself is not cancelled. */
async function withDeadline(work: () => Promise<unknown>, ms: number): Promise<void> {
  const timeout = Promise.withResolvers<never>();
  let remainingTimers = DEADLINE_TIMERS;
  const timer = setInterval(() => {
    remainingTimers -= 1;
    if (remainingTimers === 0) timeout.reject(new Error(`Not done within ${ms} ms.`));
  }, ms / DEADLINE_TIMERS);
  try {
    await Promise.race([work(), timeout.promise]);
  } finally {
    clearInterval(timer);
  }
}
