import type { Clock } from '../domain/clock.ts';
import { countedRouteOf } from '../domain/gateway-activity/classifier.ts';
import type {
  ActivityBatch,
  ActivityCounts,
  ActivityRow,
  CountedRoute,
  GatewayActivityStore,
  RequestCounter,
  RouteCounts,
} from '../domain/gateway-activity/gateway-activity.ts';
import type { ScheduledTask, Scheduler } from '../domain/scheduler.ts';

/** Counts ended requests in memory and commits the counts to a store. */
export interface ActivityCounter extends RequestCounter {
  /**
   * Commits all counts so far. Rejects when the commit fails. The counts are then kept, and the next call commits
   * them again. Calls run sequentially.
   */
  flush(): Promise<void>;
  /** Flushes and reports periodically from now on. */
  start(): void;
  /** Starts no further periodic flush or report. */
  stop(): void;
}

export interface ActivityCounterOptions {
  /** Id of this process, unique among all that share the store. */
  readonly process: string;
  readonly store: Pick<GatewayActivityStore, 'add'>;
  readonly clock: Clock;
  /** Time from the end of a periodic flush to the next one, in ms. */
  readonly everyMs: number;
  readonly scheduler: Scheduler;
  /** Called once a second with the counts since the call before, if there are any. */
  readonly onCounts: (counts: readonly RouteCounts[]) => void;
}

interface Tally {
  succeeded: number;
  failed: number;
}

const DAY_MS = 86_400_000;

/** Interval of reports of new counts to live feeds, in ms. */
const REPORT_MS = 1_000;

function addTo(tallies: Map<CountedRoute, Tally>, route: CountedRoute, { succeeded, failed }: ActivityCounts): void {
  const tally = tallies.get(route);
  if (tally === undefined) {
    tallies.set(route, { succeeded, failed });
    return;
  }
  tally.succeeded += succeeded;
  tally.failed += failed;
}

const rowsOf = (tallies: ReadonlyMap<CountedRoute, Tally>): readonly RouteCounts[] =>
  [...tallies].map(([route, tally]) => ({ ...route, ...tally }));

/** Counts by UTC day and route. The number of routes is fixed, so memory grows only with days without a commit. */
class Tallies {
  readonly #byDay = new Map<string, Map<CountedRoute, Tally>>();
  /** Counts of the current day; null before the first request and after `take`. */
  #current: Map<CountedRoute, Tally> | null = null;
  /** Start and end of the current day, Unix ms. */
  #startMs = 0;
  #endMs = 0;

  add(route: CountedRoute, nowMs: number, counts: ActivityCounts): void {
    const isCurrentDay = nowMs >= this.#startMs && nowMs < this.#endMs;
    const tallies = isCurrentDay && this.#current !== null ? this.#current : this.#selectDay(nowMs);
    addTo(tallies, route, counts);
  }

  #selectDay(nowMs: number): Map<CountedRoute, Tally> {
    this.#startMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
    this.#endMs = this.#startMs + DAY_MS;
    const day = new Date(nowMs).toISOString().slice(0, 10);
    const tallies = this.#byDay.get(day) ?? new Map<CountedRoute, Tally>();
    this.#byDay.set(day, tallies);
    this.#current = tallies;
    return tallies;
  }

  /** Removes all counts and returns them as rows. */
  take(): readonly ActivityRow[] {
    const rows = [...this.#byDay].flatMap(([day, tallies]) => rowsOf(tallies).map((counts) => ({ day, ...counts })));
    this.#byDay.clear();
    this.#current = null;
    return rows;
  }
}

const SUCCEEDED: ActivityCounts = { succeeded: 1, failed: 0 };
const FAILED: ActivityCounts = { succeeded: 0, failed: 1 };

export function createActivityCounter(options: ActivityCounterOptions): ActivityCounter {
  const { process, store, clock, everyMs, scheduler, onCounts } = options;
  const tallies = new Tallies();
  /** Batch whose commit may have failed. It is repeated unchanged, so that the store counts it once. */
  let pending: ActivityBatch | null = null;
  let lastBatchNumber = 0;
  let lastFlush: Promise<void> = Promise.resolve();
  let tasks: readonly ScheduledTask[] = [];
  /** Counts since the last report. */
  const unreported = new Map<CountedRoute, Tally>();

  async function commit(batch: ActivityBatch | null): Promise<void> {
    if (batch === null) return;
    pending = batch;
    await store.add(batch, clock.now());
    pending = null;
  }

  async function commitAll(): Promise<void> {
    await commit(pending);
    await commit(takeBatch());
  }

  function takeBatch(): ActivityBatch | null {
    const rows = tallies.take();
    if (rows.length === 0) return null;
    lastBatchNumber += 1;
    return { process, number: lastBatchNumber, rows };
  }

  function flush(): Promise<void> {
    const current = lastFlush.then(commitAll);
    lastFlush = current.catch(() => {});
    return current;
  }

  function report(): void {
    if (unreported.size === 0) return;
    onCounts(rowsOf(unreported));
    unreported.clear();
  }

  return {
    routeOf: countedRouteOf,
    count(route, status) {
      const isSuccess = status >= 200 && status < 300;
      const counts = isSuccess ? SUCCEEDED : FAILED;
      tallies.add(route, clock.now().getTime(), counts);
      addTo(unreported, route, counts);
    },
    flush,
    start() {
      tasks = [
        scheduler.every({ name: 'request-counts', everyMs, run: flush }),
        scheduler.every({ name: 'request-count-events', everyMs: REPORT_MS, run: report }),
      ];
    },
    stop() {
      for (const task of tasks) void task.stop();
    },
  };
}
