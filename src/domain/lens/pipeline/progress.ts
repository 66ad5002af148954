import type { Activity, Coverage, Reading } from '../lens.ts';
import { NO_COVERAGE } from '../lens.ts';
import type { Review } from '../review.ts';
import type { LensBackend, RunClaim, RunProgress } from '../worker.ts';

/** Pause between two reports, in ms. `flush` ends the pause. Changes during the pause are sent in one report. */
const REPORT_MS = 500;

/** Reports of a run to its server. */
export interface Reporter {
  readonly coverage: () => Coverage;
  count(change: Partial<Coverage>): void;
  /** Increases a count. The next report of another change includes it. */
  add(count: keyof Coverage, by?: number): void;
  stage(stage: string): void;
  reviewed(review: Review): void;
  reading(reading: Reading, isOver: boolean): void;
  activity(activity: Activity): void;
  /**
   * Resolves when all queued reports are stored. Sends an earlier failed report again. Rejects when a report fails
   * during this call.
   */
  flush(): Promise<void>;
}

/** One report in place of two, with the reviews of both. All other members are states: the later one counts. */
function joined(earlier: RunProgress, later: RunProgress | null): RunProgress {
  const reviews = [...(earlier.reviews ?? []), ...(later?.reviews ?? [])];
  return { ...earlier, ...later, ...(reviews.length === 0 ? {} : { reviews }) };
}

export function createReporter(backend: LensBackend, claim: RunClaim, signal: AbortSignal): Reporter {
  let coverage: Coverage = NO_COVERAGE;
  let waiting: { -readonly [Member in keyof RunProgress]: RunProgress[Member] } | null = null;
  let sending: Promise<void> | null = null;
  const readings = new Map<string, Reading>();
  const activities = new Map<string, Activity>();

  /** Ends the latest pause between two reports. */
  let endPause: (() => void) | null = null;

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, REPORT_MS);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function send(): Promise<void> {
    while (waiting !== null) {
      const report = waiting;
      waiting = null;
      try {
        await backend.progress(claim, report, signal);
      } catch (error) {
        waiting = joined(report, waiting);
        throw error;
      }
      await pause();
    }
  }

  function queue(change: RunProgress): void {
    waiting = { ...waiting, ...change, coverage };
    if (sending !== null) return;
    sending = send().finally(() => {
      sending = null;
    });
    // A waiting `flush` rejects with the failure. Otherwise the failure is ignored: the next change or `flush` sends
    // the report again.
    sending.catch(() => {});
  }

  return {
    coverage: () => coverage,
    count(change) {
      coverage = { ...coverage, ...change };
      queue({});
    },
    add(count, by = 1) {
      coverage = { ...coverage, [count]: coverage[count] + by };
    },
    stage: (stage) => queue({ stage }),
    reviewed: (review) => queue({ reviews: [...(waiting?.reviews ?? []), review] }),
    reading(reading, isOver) {
      if (isOver) readings.delete(reading.executionId);
      else readings.set(reading.executionId, reading);
      queue({ reading: [...readings.values()] });
    },
    activity(activity) {
      if (activity.finished) activities.delete(activity.id);
      else activities.set(activity.id, activity);
      queue({ activities: [...activities.values()] });
    },
    async flush() {
      while (sending !== null) {
        endPause?.();
        await sending;
      }
      if (waiting === null) return;
      queue({});
      await this.flush();
    },
  };
}
