import type { SqliteHandle } from './handle.ts';

/** Pages of the log from which on they are brought into the file. */
const STEP_PAGES = 4_000;
/** What is left of a log for the writer to bring: few pages hold nobody up. */
const REST_PAGES = 256;
/** How often the log is brought over in a row, each time what was committed during the time before. */
const MOST_PASSES = 4;

/** How soon after a commit the log is looked at, in ms: to look is a way to another thread. */
const LOOK_MS = 100;

/** Keeps the write-ahead log short. */
export interface Checkpoints {
  /** Await it before each use of the writer's connection, outside of any transaction. */
  beforeUse(writer: SqliteHandle): Promise<void>;
  /** Call it after each use. */
  used(): void;
  close(): Promise<void>;
}

/** Pages of the log that the file does not have yet. */
async function pagesLeft(handle: SqliteHandle): Promise<number> {
  const [log] = await handle.all('pragma wal_checkpoint(noop)', []);
  return Number(log?.['log'] ?? 0) - Number(log?.['checkpointed'] ?? 0);
}

/**
 * Brings the log into the file beside the commits, on a connection of its own: a writer who does it alone lets everybody
 * wait for it, a tenth of a second each time. What is committed meanwhile is little, and brought over by the writer between two
 * commits: only a log of which everything is in the file begins anew.
 */
export function createCheckpoints({
  openSide,
  failed,
}: {
  readonly openSide: () => Promise<SqliteHandle>;
  readonly failed: (error: unknown) => void;
}): Checkpoints {
  let side: SqliteHandle | null = null;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let restIsDue = false;
  let closed = false;

  async function look(): Promise<void> {
    side ??= await openSide();
    if ((await pagesLeft(side)) < STEP_PAGES) return;
    for (let pass = 0; pass < MOST_PASSES; pass += 1) {
      await side.all('pragma wal_checkpoint(passive)', []);
      if ((await pagesLeft(side)) <= REST_PAGES) break;
    }
    restIsDue = true;
  }

  async function lookAndTell(): Promise<void> {
    try {
      await look();
    } catch (error) {
      // The log grows to the size at which the writer checkpoints it itself. The next look opens a new connection.
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
      if (!restIsDue) return;
      restIsDue = false;
      await writer.all('pragma wal_checkpoint(passive)', []).catch(failed);
    },
    used() {
      if (timer !== null || running !== null || closed) return;
      timer = setTimeout(() => {
        timer = null;
        running = lookAndTell();
      }, LOOK_MS).unref();
    },
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      await side?.close().catch(failed);
    },
  };
}
