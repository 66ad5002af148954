import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Bus } from '../../domain/bus.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import {
  type CatalogChange,
  changesOf,
  compareStates,
  type EarlierState,
  type EntryDifference,
  NEWS_SIZE,
  stateOfRecord,
  stateOfSnapshot,
  type WatchedFields,
} from '../../domain/catalog/changes.ts';
import type { CatalogHistory, RecordHead } from '../../domain/catalog/history.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../telemetry/log.ts';

/** Recorded entries read at once, to find what changed while we were away. */
const READ_AT_ONCE = 500;
/** States that wait while the store is away; beyond it the steps between them are recorded as one. */
const MOST_WAITING = 8;
/** How often it is noted that the state on record is still what is published. */
const CONFIRM_MS = 60_000;
/** Time without a look at the source, in ms, beyond which a change is not dated by when it was seen. */
const LONG_UNSEEN_MS = 10 * 60_000;
const RETRY_MS = 1_000;
const MOST_RETRY_MS = 60_000;

const NOTHING: EarlierState = stateOfRecord(new Map<string, WatchedFields>());

/** Notes what changes in the catalog. */
export interface CatalogRecorder {
  /** Takes a state that is served from now on. Never waits and never throws. */
  see(snapshot: CatalogSnapshot): void;
  /** Ends a recording under way, and starts no other: the next start finds what is missing. */
  stop(): Promise<void>;
}

/**
 * Compares every state of the catalog with the one recorded before it, keeps the difference and tells who
 * listens. What could not be recorded is tried again; after a restart the state on record is compared with the
 * one served, so a difference is found even when the process died before it was written.
 */
export function createCatalogRecorder({
  history,
  bus,
  clock,
  log,
  freshAt,
  confirmMs = CONFIRM_MS,
  retryMs = RETRY_MS,
}: {
  readonly history: Pick<CatalogHistory, 'head' | 'recorded' | 'record' | 'confirm'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  readonly log: Log;
  /** When what is served was last known to be what is published; null when it is not known to be. */
  readonly freshAt: () => Date | null;
  readonly confirmMs?: number;
  readonly retryMs?: number;
}): CatalogRecorder {
  interface Seen {
    readonly snapshot: CatalogSnapshot;
    readonly at: Date;
  }
  let waiting: readonly Seen[] = [];
  let running: Promise<void> | null = null;
  const stopping = new AbortController();
  /** What this process was through with last; when it is on record it need not be read back. */
  let last: Seen | null = null;
  /** The head, as long as nobody else can have moved it as far as we know. */
  let known: RecordHead | null = null;

  async function earlierThan(head: RecordHead | null): Promise<EarlierState> {
    if (head === null) return NOTHING;
    if (last?.snapshot.id === head.snapshotId) return stateOfSnapshot(last.snapshot);
    const fields = new Map<string, WatchedFields>();
    let after: string | null = null;
    for (;;) {
      const page = await history.recorded(after, READ_AT_ONCE);
      for (const entry of page) fields.set(entry.entryId, entry.fields);
      after = page.at(-1)?.entryId ?? null;
      if (page.length < READ_AT_ONCE) return stateOfRecord(fields);
    }
  }

  /** Tells who listens, in pieces that others can run between. */
  async function tell(changes: readonly CatalogChange[], at: Date, snapshotId: string): Promise<void> {
    for (let start = 0; start < changes.length; start += NEWS_SIZE) {
      const batch = changes.slice(start, start + NEWS_SIZE).map((change) => ({ ...change, at }));
      bus.publish('catalogChange', { at, snapshotId, changes: batch });
      await setImmediate();
    }
  }

  /** What a step on record changed for this process: nothing when it was taken before we came. */
  const earlierThanOurs = ({ seenAt }: RecordHead): EarlierState | null =>
    last === null || seenAt < last.at ? null : stateOfSnapshot(last.snapshot);

  async function record(seen: Seen): Promise<void> {
    const { snapshot } = seen;
    let head = known ?? (await history.head());
    known = null;
    for (;;) {
      // Another process, or a start before a first refresh: what is older than the record is no news.
      if (head !== null && head.snapshotId !== snapshot.id && snapshot.takenAt < head.takenAt) {
        last = seen;
        return;
      }
      const there = head?.snapshotId === snapshot.id ? head : null;
      const earlier = there === null ? await earlierThan(head) : earlierThanOurs(there);
      const confirmedMs = head?.confirmedAt.getTime() ?? -1;
      const at = new Date(Math.max(seen.at.getTime(), confirmedMs + 1));
      const notBefore = at.getTime() - confirmedMs > LONG_UNSEEN_MS ? new Date(confirmedMs) : null;
      const differences = earlier === null ? [] : await compare(earlier, snapshot);
      // What is there at first sight did not just come.
      const changes =
        head === null
          ? []
          : await spread(differences, (item) => changesOf(item, { at, notBefore, snapshotId: snapshot.id }));
      const wanted: RecordHead = { snapshotId: snapshot.id, takenAt: snapshot.takenAt, seenAt: at, confirmedAt: at };
      const reached: RecordHead =
        there ??
        (await history.record({
          from: head?.snapshotId ?? null,
          head: wanted,
          changes,
          entries: differences.map(({ entryId, after }) => ({ entryId, fields: after })),
        }));
      if (reached.snapshotId === snapshot.id) {
        last = seen;
        known = reached;
        if (changes.length > 0)
          log.info({ changes: changes.length, snapshot: snapshot.id }, 'catalog changes recorded');
        await tell(changes, reached.seenAt, snapshot.id);
        return;
      }
      head = reached;
    }
  }

  /** Notes that nothing has changed, when that is known: what changes later happened later. */
  async function confirm(): Promise<void> {
    const at = freshAt();
    const head = known;
    if (at === null || head === null || waiting.length > 0 || at <= head.confirmedAt) return;
    try {
      await history.confirm(head.snapshotId, at);
      if (known === head) known = { ...head, confirmedAt: at };
    } catch (error) {
      // Changes are dated less exactly, no more; what keeps the store away is said when one is recorded.
      log.debug({ err: error }, 'catalog could not be confirmed');
    }
  }
  const confirming = setInterval(() => void confirm(), confirmMs).unref();

  async function run(): Promise<void> {
    let failures = 0;
    for (let [seen] = waiting; seen !== undefined && !stopping.signal.aborted; [seen] = waiting) {
      try {
        await record(seen);
        waiting = waiting.slice(1);
        failures = 0;
      } catch (error) {
        if (failures === 0) log.error({ err: error }, 'catalog changes could not be recorded; trying again');
        const delay = Math.min(retryMs * 2 ** Math.min(failures, 10), MOST_RETRY_MS);
        failures += 1;
        await setTimeout(delay, null, { ref: false, signal: stopping.signal }).catch(() => {});
      }
    }
  }

  return {
    see(snapshot) {
      if (stopping.signal.aborted) return;
      // The first may be under way; of the others the older ones only make steps finer.
      const kept = waiting.length < MOST_WAITING ? waiting : waiting.toSpliced(1, 1);
      waiting = [...kept, { snapshot, at: clock.now() }];
      running ??= run().finally(() => {
        running = null;
      });
    },
    async stop() {
      stopping.abort();
      clearInterval(confirming);
      await running;
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

/** As `flatMap`, letting others run now and then. */
async function spread<Item, Result>(
  items: readonly Item[],
  resultsOf: (item: Item) => readonly Result[],
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [place, item] of items.entries()) {
    results.push(...resultsOf(item));
    if (place % NEWS_SIZE === NEWS_SIZE - 1) await setImmediate();
  }
  return results;
}
