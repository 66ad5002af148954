import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Bus } from '../../domain/bus.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import {
  type CatalogChange,
  changesOf,
  compareStates,
  type EarlierState,
  type EntryDifference,
  MAX_CHANGES_PER_EVENT,
  stateOfRecord,
  stateOfSnapshot,
  type WatchedFields,
} from '../../domain/catalog/changes.ts';
import type { CatalogHistory, RecordHead } from '../../domain/catalog/history.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Scheduler } from '../../domain/scheduler.ts';
import type { Log } from '../telemetry/log.ts';

/** Number of recorded entries of one read from the store. */
const ENTRIES_PER_READ = 500;
/**
 * Maximum number of states that wait to be recorded. Beyond it, a waiting state is dropped, and its changes are
 * recorded with the next state.
 */
const MAX_WAITING = 8;
/** Interval in ms of confirmations that the recorded state is still the published one. */
const CONFIRM_MS = 60_000;
/** Time without a check of the source, in ms, beyond which changes have a `notBefore`. */
const LONG_UNCHECKED_MS = 10 * 60_000;
/** Delay of the first retry, in ms. It doubles with each further retry. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

const NOTHING: EarlierState = stateOfRecord(new Map<string, WatchedFields>());

interface ServedState {
  readonly snapshot: CatalogSnapshot;
  /** Time from which the state is served. */
  readonly at: Date;
}

/**
 * Times of the changes of a state. `at` is after the last confirmation, also when the clocks of processes differ.
 * `notBefore` is the last confirmation when it is long ago, because the changes may be that old.
 */
function timesOfChanges(
  state: ServedState,
  head: RecordHead | null,
): { readonly at: Date; readonly notBefore: Date | null } {
  if (head === null) return { at: state.at, notBefore: null };
  const { confirmedAt } = head;
  const at = new Date(Math.max(state.at.getTime(), confirmedAt.getTime() + 1));
  const isLongUnchecked = at.getTime() - confirmedAt.getTime() > LONG_UNCHECKED_MS;
  return { at, notBefore: isLongUnchecked ? confirmedAt : null };
}

/** Records the changes of the catalog. */
export interface CatalogRecorder {
  /** Queues a newly served state. Synchronous, never throws. */
  enqueue(snapshot: CatalogSnapshot): void;
  /** Waits for a running recording and starts no other. The next process records what is missing. */
  stop(): Promise<void>;
}

/**
 * Compares every state of the catalog with the last recorded one, stores the difference and publishes it. A failed
 * recording is retried. After a restart the recorded state is compared with the served one, so that no difference is
 * lost when a process is killed.
 */
export function createCatalogRecorder({
  history,
  bus,
  clock,
  scheduler,
  log,
  freshAt,
  confirmMs = CONFIRM_MS,
  retryMs = RETRY_MS,
}: {
  readonly history: Pick<CatalogHistory, 'head' | 'recorded' | 'record' | 'confirm'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** Last time at which the served state was confirmed to be the published one; null when unknown. */
  readonly freshAt: () => Date | null;
  readonly confirmMs?: number;
  readonly retryMs?: number;
}): CatalogRecorder {
  let waiting: readonly ServedState[] = [];
  let running: Promise<void> | null = null;
  const stopping = new AbortController();
  /**
   * The last state that this process has recorded or skipped. While it is the head, which is the latest recorded state,
   * its entries are not read from the store.
   */
  let last: ServedState | null = null;
  /** The head after the last recording or confirmation of this process; null when it must be read from the store. */
  let knownHead: RecordHead | null = null;

  async function stateAt(head: RecordHead | null): Promise<EarlierState> {
    if (head === null) return NOTHING;
    if (last?.snapshot.id === head.snapshotId) return stateOfSnapshot(last.snapshot);
    const fields = new Map<string, WatchedFields>();
    let after: string | null = null;
    for (;;) {
      const page = await history.recorded(after, ENTRIES_PER_READ);
      for (const entry of page) fields.set(entry.entryId, entry.fields);
      after = page.at(-1)?.entryId ?? null;
      if (page.length < ENTRIES_PER_READ) return stateOfRecord(fields);
    }
  }

  /** Publishes changes in events of limited size, and yields in between. */
  async function publish(changes: readonly CatalogChange[], at: Date, snapshotId: string): Promise<void> {
    for (let start = 0; start < changes.length; start += MAX_CHANGES_PER_EVENT) {
      const batch = changes.slice(start, start + MAX_CHANGES_PER_EVENT).map((change) => ({ ...change, at }));
      bus.publish('catalogChange', { at, snapshotId, changes: batch });
      await setImmediate();
    }
  }

  /**
   * State to compare with when the head already is the state to record, for example because another process was faster.
   * That is the last state of this process, unless it is newer than the head. Null for none.
   */
  const stateBefore = ({ seenAt }: RecordHead): EarlierState | null =>
    last === null || seenAt < last.at ? null : stateOfSnapshot(last.snapshot);

  /**
   * Records a state and publishes its changes. Compares again when another process has recorded a state meanwhile.
   */
  async function record(state: ServedState): Promise<void> {
    const { snapshot } = state;
    let head = knownHead ?? (await history.head());
    knownHead = null;
    for (;;) {
      // A state older than the recorded one is not recorded: another process has recorded a newer state.
      if (head !== null && head.snapshotId !== snapshot.id && snapshot.takenAt < head.takenAt) {
        last = state;
        return;
      }
      const recordedHead = head?.snapshotId === snapshot.id ? head : null;
      const earlier = recordedHead === null ? await stateAt(head) : stateBefore(recordedHead);
      const { at, notBefore } = timesOfChanges(state, head);
      const differences = earlier === null ? [] : await compare(earlier, snapshot);
      // The first recorded state has no changes: its entries are not new.
      const changes =
        head === null
          ? []
          : await flatMapYielding(differences, (item) => changesOf(item, { at, notBefore, snapshotId: snapshot.id }));
      const headToRecord: RecordHead = {
        snapshotId: snapshot.id,
        takenAt: snapshot.takenAt,
        seenAt: at,
        confirmedAt: at,
      };
      const newHead: RecordHead =
        recordedHead ??
        (await history.record({
          from: head?.snapshotId ?? null,
          head: headToRecord,
          changes,
          entries: differences.map(({ entryId, after }) => ({ entryId, fields: after })),
        }));
      if (newHead.snapshotId !== snapshot.id) {
        // Another process has recorded another state. Compare with that state.
        head = newHead;
        continue;
      }
      last = state;
      knownHead = newHead;
      if (changes.length > 0) log.info({ changes: changes.length, snapshot: snapshot.id }, 'catalog changes recorded');
      await publish(changes, newHead.seenAt, snapshot.id);
      return;
    }
  }

  /** Confirms the recorded state, so that later changes have precise dates. */
  async function confirm(): Promise<void> {
    const at = freshAt();
    const head = knownHead;
    if (at === null || head === null || waiting.length > 0 || at <= head.confirmedAt) return;
    try {
      await history.confirm(head.snapshotId, at);
      if (knownHead === head) knownHead = { ...head, confirmedAt: at };
    } catch (error) {
      // Without a confirmation, only the dates of changes are less precise. A failed recording logs why the store is
      // unavailable.
      log.debug({ err: error }, 'the catalog snapshot could not be confirmed');
    }
  }
  const confirming = scheduler.every({ name: 'catalog-confirmation', everyMs: confirmMs, run: confirm });

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const [state] = waiting;
      if (state === undefined) return;
      try {
        await record(state);
        waiting = waiting.slice(1);
        failures = 0;
      } catch (error) {
        if (failures === 0) log.error({ err: error }, 'catalog changes could not be recorded; retrying');
        const delay = Math.min(retryMs * 2 ** Math.min(failures, 10), MAX_RETRY_MS);
        failures += 1;
        await setTimeout(delay, null, { ref: false, signal: stopping.signal }).catch(() => {});
      }
    }
  }

  return {
    enqueue(snapshot) {
      if (stopping.signal.aborted) return;
      // The recording of the first state may be in progress. When the queue is full, the oldest of the others is
      // dropped: its changes are recorded with the next state.
      const queued = waiting.length < MAX_WAITING ? waiting : waiting.toSpliced(1, 1);
      waiting = [...queued, { snapshot, at: clock.now() }];
      running ??= run().finally(() => {
        running = null;
      });
    },
    async stop() {
      stopping.abort();
      await Promise.all([confirming.stop(), running]);
      await confirm();
    },
  };
}

async function compare(earlier: EarlierState, later: CatalogSnapshot): Promise<readonly EntryDifference[]> {
  const found: EntryDifference[] = [];
  for (const slice of compareStates(earlier, later)) {
    found.push(...slice);
    await setImmediate();
  }
  return found;
}

/** As `flatMap`, but yields to the event loop. */
async function flatMapYielding<Item, Result>(
  items: readonly Item[],
  resultsOf: (item: Item) => readonly Result[],
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [place, item] of items.entries()) {
    results.push(...resultsOf(item));
    if (place % MAX_CHANGES_PER_EVENT === MAX_CHANGES_PER_EVENT - 1) await setImmediate();
  }
  return results;
}
