/** Records waiting for the store before new ones push the oldest out. */
const WAITING_LIMIT = 200_000;
/** Most records one commit takes where nothing else is said: encoding them is milliseconds in which nothing else runs. */
const BATCH_LIMIT = 1_000;
/** How long records gather before a commit, and how long a failed commit waits. */
const GATHER_MS = 250;
const RETRY_MS = 500;

export interface WriteBehind<Item> {
  /** Takes a record; never waits and never throws. */
  push(item: Item): void;
  /** Resolves when everything pushed so far is committed, or rejects when the last attempt fails. */
  flush(): Promise<void>;
  /** As `flush`, but for a reader: never rejects, and waits no longer than `withinMs`; false when that was too short. */
  caughtUp(withinMs: number): Promise<boolean>;
  waiting(): number;
  /** How many of the records that were pushed wait no longer: they are committed, refused or dropped. */
  gone(): number;
  /**
   * Runs a read while no commit runs; commits wait for it, so it must have a deadline. When the commit under way takes
   * longer than `withinMs`, the read does not wait for its end.
   */
  betweenCommits<Result>(read: () => Promise<Result>, withinMs: number): Promise<Result>;
}

/**
 * Whose fault a failed commit is: the store's, which may be away, a record's, which can never be stored, or one that
 * only shows by trying the records apart.
 */
export type Fault = 'store' | 'record' | 'either';

/** A record that was refused by itself, while its batch was tried apart. */
interface Suspect<Item> {
  readonly item: Item;
  readonly error: unknown;
  readonly fault: Fault;
}

interface Parted<Item> {
  readonly stored: number;
  readonly suspects: readonly Suspect<Item>[];
}

/**
 * Commits records in batches, soon after they come and off the path that made them. A failed commit is
 * tried again with the same records; only a store that stays away until the limit costs records, counted
 * by `dropped`. A record that cannot be stored is told to `refused` and left out, so that it holds nobody up; a
 * store that takes none of a batch is not believed to judge them.
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
  /** Stores all of them or fails. What is stored already may come again. */
  readonly commit: (items: readonly Item[]) => Promise<void>;
  /** Runs after each batch, before the next one; also after one that was committed in part. Must not reject. */
  readonly afterCommit?: () => Promise<void>;
  readonly faultOf: (error: unknown) => Fault;
  readonly failed: (error: unknown, waiting: number) => void;
  readonly dropped: (count: number) => void;
  readonly refused: (item: Item, error: unknown) => void;
  /** Most records one commit takes. */
  readonly batchLimit?: number;
}): WriteBehind<Item> {
  let waiting: Item[] = [];
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let committed = 0;
  let droppedCount = 0;
  /** Ends when the commits and reads that were begun so far have ended. */
  let turn: Promise<unknown> = Promise.resolve();

  /** Commits and reads run one after another. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const own = turn.then(work);
    turn = own.catch(() => {});
    return own;
  }

  /** Commits what can be committed, in parts if need be; rejects when the store is at fault. */
  async function commitApart(batch: readonly Item[]): Promise<Parted<Item>> {
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
    const left = await commitApart(batch.slice(0, half));
    const right = await commitApart(batch.slice(half));
    return { stored: left.stored + right.stored, suspects: [...left.suspects, ...right.suspects] };
  }

  async function commitBatch(): Promise<void> {
    const batch = waiting.slice(0, batchLimit);
    const { stored, suspects } = await commitApart(batch);
    const doubtful = stored === 0 ? suspects.find(({ fault }) => fault === 'either') : undefined;
    if (doubtful) throw doubtful.error;
    waiting = waiting.slice(batch.length);
    committed += batch.length;
    for (const { item, error } of suspects) refused(item, error);
  }

  async function drain(): Promise<void> {
    // What came meanwhile gathers first, unless it fills a batch: many small commits write the same pages again and again.
    do
      try {
        await inTurn(commitBatch);
      } finally {
        await afterCommit?.();
      }
    while (waiting.length >= batchLimit);
  }

  function start(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    running ??= drain().finally(() => {
      running = null;
    });
    return running;
  }

  function schedule(delayMs: number): void {
    if (timer || running) return;
    timer = setTimeout(() => {
      start().then(
        () => {
          if (waiting.length > 0) schedule(GATHER_MS);
        },
        (error: unknown) => {
          failed(error, waiting.length);
          schedule(RETRY_MS);
        },
      );
    }, delayMs);
    timer.unref();
  }

  /** Commits what waits now; what comes meanwhile may go along, but nobody waits for it. */
  async function commitWaiting(): Promise<void> {
    const target = committed + waiting.length;
    while (committed < target && waiting.length > 0) await start();
  }

  return {
    push(item) {
      if (waiting.length >= WAITING_LIMIT) {
        // While a commit runs its records head the list: they leave by that commit, not here.
        const spare = running ? batchLimit : 0;
        waiting.splice(spare, 1);
        droppedCount += 1;
        dropped(1);
      }
      waiting.push(item);
      schedule(GATHER_MS);
    },
    async flush() {
      while (waiting.length > 0) await start();
    },
    async caughtUp(withinMs) {
      if (waiting.length === 0) return true;
      const late = Promise.withResolvers<boolean>();
      const alarm = setTimeout(() => late.resolve(false), withinMs);
      const committing = commitWaiting().then(
        () => true,
        (error: unknown) => {
          failed(error, waiting.length);
          return false;
        },
      );
      const committedInTime = await Promise.race([committing, late.promise]);
      clearTimeout(alarm);
      return committedInTime;
    },
    waiting: () => waiting.length,
    gone: () => committed + droppedCount,
    betweenCommits: (read, withinMs) =>
      new Promise((resolve, reject) => {
        let begun: ReturnType<typeof read> | null = null;
        const begin = (): ReturnType<typeof read> => {
          clearTimeout(alarm);
          return (begun ??= read());
        };
        const alarm = setTimeout(() => void begin().then(resolve, reject), withinMs);
        inTurn(begin).then(resolve, reject);
      }),
  };
}
