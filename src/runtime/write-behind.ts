/** Records waiting for the store before new ones push the oldest out. */
const WAITING_LIMIT = 200_000;
/** Most records one commit takes: encoding them is milliseconds in which nothing else runs. */
const BATCH_LIMIT = 500;
/** How long records gather before a commit, and how long a failed commit waits. */
const GATHER_MS = 100;
const RETRY_MS = 500;

export interface WriteBehind<Item> {
  /** Takes a record; never waits and never throws. */
  push(item: Item): void;
  /** Resolves when everything pushed so far is committed, or rejects when the last attempt fails. */
  flush(): Promise<void>;
  /** As `flush`, but for a reader: never rejects, and waits no longer than `withinMs`. */
  caughtUp(withinMs: number): Promise<void>;
  waiting(): number;
}

/**
 * Commits records in batches, soon after they come and off the path that made them. A failed commit is
 * tried again with the same records; only a store that stays away until the limit costs records, counted
 * by `dropped`.
 */
export function createWriteBehind<Item>({
  commit,
  failed,
  dropped,
}: {
  readonly commit: (items: readonly Item[]) => Promise<void>;
  readonly failed: (error: unknown, waiting: number) => void;
  readonly dropped: (count: number) => void;
}): WriteBehind<Item> {
  let waiting: Item[] = [];
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let committed = 0;

  async function drain(): Promise<void> {
    // What came meanwhile gathers first, unless it fills a batch: many small commits write the same pages again and again.
    do {
      const batch = waiting.slice(0, BATCH_LIMIT);
      await commit(batch);
      waiting = waiting.slice(batch.length);
      committed += batch.length;
    } while (waiting.length >= BATCH_LIMIT);
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
        const spare = running ? BATCH_LIMIT : 0;
        waiting.splice(spare, 1);
        dropped(1);
      }
      waiting.push(item);
      schedule(GATHER_MS);
    },
    async flush() {
      while (waiting.length > 0) await start();
    },
    async caughtUp(withinMs) {
      if (waiting.length === 0) return;
      const late = Promise.withResolvers<void>();
      const alarm = setTimeout(late.resolve, withinMs);
      await Promise.race([commitWaiting().catch((error: unknown) => failed(error, waiting.length)), late.promise]);
      clearTimeout(alarm);
    },
    waiting: () => waiting.length,
  };
}
