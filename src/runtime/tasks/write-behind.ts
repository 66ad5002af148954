import { withDeadline } from '../../domain/with-deadline.ts';

/** Maximum number of records that wait for the store. Beyond it, the oldest one outside a running commit is dropped. */
const WAITING_LIMIT = 200_000;
/** Default number of records of one commit: encoding them blocks the event loop for milliseconds. */
const BATCH_LIMIT = 1_000;
/** Time for which records are collected before a commit, in ms. */
const GATHER_MS = 250;
/** Delay in ms of a retry after a failed commit attempt. */
const RETRY_MS = 500;
/**
 * Time in ms for which failed commit attempts are repeated after a flush. Longer than the shutdown steps that follow.
 */
const FINAL_RETRIES_MS = 10_000;

export interface WriteBehind<Item> {
  /** Queues a record. Synchronous, never throws. */
  push(item: Item): void;
  /**
   * Resolves when the queue is empty, later records included; rejects when a commit fails. A flush begins a shutdown:
   * failed commit attempts are repeated only for the next `FINAL_RETRIES_MS`, and after a push or a read.
   */
  flush(): Promise<void>;
  /**
   * For readers: waits at most `withinMs` until all records so far are committed. False after a timeout or a failed
   * commit attempt.
   */
  caughtUp(withinMs: number): Promise<boolean>;
  waiting(): number;
  /** Number of records that were committed, refused or dropped. */
  settledCount(): number;
  /**
   * Runs a read between two commits. The next commit waits for the read, so the read must have a deadline. The read
   * starts after the commits and reads that were queued earlier. After `withinMs` it starts anyway, also during a
   * commit.
   */
  betweenCommits<Result>(read: () => Promise<Result>, withinMs: number): Promise<Result>;
}

/**
 * Cause of a failed commit attempt. `store`: the store may be unavailable. `record`: a record can never be stored.
 * `either`: unknown until the batch is halved and committed again.
 */
export type Fault = 'store' | 'record' | 'either';

/** A record whose commit failed even without other records. */
interface RefusedItem<Item> {
  readonly item: Item;
  readonly error: unknown;
  readonly fault: Fault;
}

interface CommitResult<Item> {
  /** Number of stored records. */
  readonly stored: number;
  /** Records whose commit failed even without other records. They are refused, unless the store counts as the cause. */
  readonly suspects: readonly RefusedItem<Item>[];
}

/**
 * Commits records in batches in the background. A failed commit attempt is repeated with the same records; records are
 * dropped, and counted by `dropped`, only when the queue is full. A record that cannot be stored is passed to `refused`
 * and skipped. When all records of a batch fail and the cause of one is `either`, the store counts as the cause.
 */
export function createWriteBehind<Item>({
  commit,
  faultOf,
  failed,
  dropped,
  refused,
  batchLimit = BATCH_LIMIT,
  afterCommit,
}: {
  /** Stores all records or fails. A retry may repeat stored records. */
  readonly commit: (items: readonly Item[]) => Promise<void>;
  /** Runs after each batch, before the next one; also after a failed batch. Must not reject. */
  readonly afterCommit?: () => Promise<void>;
  readonly faultOf: (error: unknown) => Fault;
  readonly failed: (error: unknown, waiting: number) => void;
  readonly dropped: (count: number) => void;
  readonly refused: (item: Item, error: unknown) => void;
  /** Maximum number of records of one commit. */
  readonly batchLimit?: number;
}): WriteBehind<Item> {
  let waiting: Item[] = [];
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** Time at which retries end, by `performance.now()`. */
  let retriesEndMs = Number.POSITIVE_INFINITY;
  /** Number of records that were committed or refused. */
  let processed = 0;
  let droppedCount = 0;
  /** Settles when all commits and reads up to now have ended. */
  let turn: Promise<unknown> = Promise.resolve();

  /** Runs work after all earlier commit attempts and reads. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  }

  /**
   * Commits the valid records, and halves a failed batch to find the invalid ones. Rejects when the store is the cause.
   */
  async function commitBisecting(batch: readonly Item[]): Promise<CommitResult<Item>> {
    try {
      await commit(batch);
      return { stored: batch.length, suspects: [] };
    } catch (error) {
      const fault = faultOf(error);
      const [item] = batch;
      if (fault === 'store' || item === undefined) throw error;
      if (batch.length === 1) return { stored: 0, suspects: [{ item, error, fault }] };
    }
    const half = batch.length >> 1;
    const left = await commitBisecting(batch.slice(0, half));
    const right = await commitBisecting(batch.slice(half));
    return { stored: left.stored + right.stored, suspects: [...left.suspects, ...right.suspects] };
  }

  async function commitBatch(): Promise<void> {
    const batch = waiting.slice(0, batchLimit);
    const { stored, suspects } = await commitBisecting(batch);
    const doubtful = stored === 0 ? suspects.find(({ fault }) => fault === 'either') : undefined;
    if (doubtful) throw doubtful.error;
    waiting = waiting.slice(batch.length);
    processed += batch.length;
    for (const { item, error } of suspects) refused(item, error);
  }

  async function drain(): Promise<void> {
    // Continues only with a full batch, because many small commits would write the same pages repeatedly.
    do {
      try {
        await inTurn(commitBatch);
      } finally {
        await afterCommit?.();
      }
    } while (waiting.length >= batchLimit);
  }

  /** Starts commits, unless some run. Afterwards, records that are left have a timer. */
  function start(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    running ??= drain().then(
      () => {
        running = null;
        if (waiting.length > 0) schedule(GATHER_MS);
      },
      (error: unknown) => {
        running = null;
        // Once the store is closed, retries would fail without end.
        if (performance.now() < retriesEndMs) schedule(RETRY_MS);
        throw error;
      },
    );
    return running;
  }

  function schedule(delayMs: number): void {
    if (timer || running) return;
    timer = setTimeout(() => {
      start().catch((error: unknown) => failed(error, waiting.length));
    }, delayMs);
    timer.unref();
  }

  /** Commits the current queue; later records may be included, but are not awaited. */
  async function commitWaiting(): Promise<void> {
    const target = processed + waiting.length;
    while (processed < target && waiting.length > 0) await start();
  }

  return {
    push(item) {
      if (waiting.length >= WAITING_LIMIT) {
        // The records of a running commit are at the head of the list and are not dropped here.
        const firstQueued = running ? batchLimit : 0;
        waiting.splice(firstQueued, 1);
        droppedCount += 1;
        dropped(1);
      }
      waiting.push(item);
      schedule(GATHER_MS);
    },
    async flush() {
      retriesEndMs = performance.now() + FINAL_RETRIES_MS;
      while (waiting.length > 0) await start();
    },
    async caughtUp(withinMs) {
      if (waiting.length === 0) return true;
      const committing = commitWaiting().then(
        () => true,
        (error: unknown) => {
          failed(error, waiting.length);
          return false;
        },
      );
      return withDeadline(committing, withinMs, () => false);
    },
    waiting: () => waiting.length,
    settledCount: () => processed + droppedCount,
    betweenCommits: (read, withinMs) =>
      new Promise((resolve, reject) => {
        let pendingRead: ReturnType<typeof read> | null = null;
        const begin = (): ReturnType<typeof read> => {
          clearTimeout(alarm);
          return (pendingRead ??= read());
        };
        const alarm = setTimeout(() => void begin().then(resolve, reject), withinMs);
        inTurn(begin).then(resolve, reject);
      }),
  };
}
