import type { SqliteHandle } from './handle.ts';

/** Pages of the write-ahead log at which a checkpoint starts. */
const STEP_PAGES = 4_000;
/**
 * Passes end when at most this many pages of the log are left. The writer checkpoints the rest, which blocks it
 * briefly.
 */
const REST_PAGES = 256;
/**
 * Maximum number of successive passes. Each pass after the first checkpoints the pages that were committed during the
 * pass before it.
 */
const MOST_PASSES = 4;

/** Time from a commit to the check of the log, in ms. A check is a round trip to another thread. */
const CHECK_DELAY_MS = 100;

/** Keeps the write-ahead log short. */
export interface Checkpoints {
  /** Await it before each use of the writer's connection, outside a transaction. */
  beforeUse(writer: SqliteHandle): Promise<void>;
  /** Call it after each use. */
  used(): void;
  close(): Promise<void>;
}

/** Pages of the log that are not in the file yet. A `noop` checkpoint only reports them. */
async function pagesLeft(handle: SqliteHandle): Promise<number> {
  const [log] = await handle.all('pragma wal_checkpoint(noop)', []);
  return Number(log?.['log'] ?? 0) - Number(log?.['checkpointed'] ?? 0);
}

/**
 * Checkpoints the log concurrently with commits, on a separate connection: on the writer's connection, each
 * checkpoint blocks all writes for a tenth of a second. The writer checkpoints the few pages committed in between,
 * because only a completely checkpointed log restarts at its beginning.
 */
export function createCheckpoints({
  openSide,
  failed,
}: {
  /** Opens the separate connection. */
  readonly openSide: () => Promise<SqliteHandle>;
  readonly failed: (error: unknown) => void;
}): Checkpoints {
  let side: SqliteHandle | null = null;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let isRestDue = false;
  let isClosed = false;

  async function checkLog(): Promise<void> {
    side ??= await openSide();
    if ((await pagesLeft(side)) < STEP_PAGES) return;
    for (let pass = 0; pass < MOST_PASSES; pass += 1) {
      await side.all('pragma wal_checkpoint(passive)', []);
      if ((await pagesLeft(side)) <= REST_PAGES) break;
    }
    isRestDue = true;
  }

  async function checkLogSafely(): Promise<void> {
    try {
      await checkLog();
    } catch (error) {
      // Until the next check, which opens a new connection, the log may grow. At `CHECKPOINT_PAGES` of `handle.ts` the
      // writer checkpoints it.
      failed(error);
      const broken = side;
      side = null;
      await broken?.close().catch(failed);
    } finally {
      running = null;
    }
  }

  return {
    async beforeUse(writer) {
      if (!isRestDue) return;
      isRestDue = false;
      await writer.all('pragma wal_checkpoint(passive)', []).catch(failed);
    },
    used() {
      if (timer !== null || running !== null || isClosed) return;
      timer = setTimeout(() => {
        timer = null;
        running = checkLogSafely();
      }, CHECK_DELAY_MS).unref();
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      await side?.close().catch(failed);
    },
  };
}
