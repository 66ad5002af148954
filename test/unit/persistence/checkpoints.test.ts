import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCheckpoints } from '../../../src/persistence/sqlite/checkpoints.ts';
import { openReady, type OpenSqlite, type SqliteHandle } from '../../../src/persistence/sqlite/handle.ts';
import { openWorkerHandle } from '../../../src/persistence/sqlite/worker-handle.ts';
import { POLLING } from '../../support/polling.ts';

/** A write-ahead log. */
interface Log {
  pages: number;
  /** Pages that are copied into the database file. */
  inFile: number;
  /** Pages that are committed during each checkpoint. The last number repeats. */
  readonly meanwhile: number[];
}

/** A connection that reports the size of the log, runs checkpoints, and records its statements. */
function aConnection(log: Log) {
  const statements: string[] = [];
  const handle: SqliteHandle = {
    async all(sql) {
      statements.push(sql);
      if (sql.includes('passive')) {
        log.inFile = log.pages;
        log.pages += (log.meanwhile.length > 1 ? log.meanwhile.shift() : log.meanwhile[0]) ?? 0;
      }
      return sql.includes('noop') ? [{ busy: 0, log: log.pages, checkpointed: log.inFile }] : [];
    },
    run: () => Promise.reject(new Error('Unexpected call: a checkpoint only reads pragmas.')),
    script: () => Promise.reject(new Error('Unexpected call: a checkpoint only reads pragmas.')),
    close: async () => void statements.push('close'),
  };
  return { handle, statements };
}

/** Reads the size of the log. */
const NOOP = 'pragma wal_checkpoint(noop)';
/** Copies pages into the database file, without a wait for other connections. */
const PASSIVE = 'pragma wal_checkpoint(passive)';

describe('the log of a writer', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function aSetup(pages: number, { inFile = 0, meanwhile = [] as number[] } = {}) {
    const log: Log = { pages, inFile, meanwhile };
    const writer = aConnection(log);
    const checkpointer = aConnection(log);
    const failures: unknown[] = [];
    const openSide = vi.fn<() => Promise<SqliteHandle>>(() => Promise.resolve(checkpointer.handle));
    const checkpoints = createCheckpoints({ openSide, failed: (error) => failures.push(error) });
    return { log, writer, checkpointer, failures, openSide, checkpoints };
  }

  test('is checked once for many commits, and not copied below the threshold', async () => {
    const { checkpoints, writer, checkpointer } = aSetup(3_999);
    for (let commit = 0; commit < 5; commit += 1) checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    await checkpoints.beforeUse(writer.handle);
    expect([checkpointer.statements, writer.statements]).toEqual([[NOOP], []]);
  });

  test('is copied into the file by another connection, and its rest by the writer before a transaction', async () => {
    const { checkpoints, writer, checkpointer } = aSetup(9_000, { inFile: 5_000 });
    checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([checkpointer.statements, writer.statements]).toEqual([[NOOP, PASSIVE, NOOP], []]);
    await checkpoints.beforeUse(writer.handle);
    await checkpoints.beforeUse(writer.handle);
    expect(writer.statements).toEqual([PASSIVE]);
  });

  test.each([
    ['until at most 256 new pages remain', [900, 257, 256], [PASSIVE, NOOP, PASSIVE, NOOP, PASSIVE, NOOP]],
    ['four times at most', [900], [PASSIVE, NOOP, PASSIVE, NOOP, PASSIVE, NOOP, PASSIVE, NOOP]],
  ])('is copied again while the writer continues, %s', async (_what, meanwhile, passes) => {
    const { checkpoints, writer, checkpointer } = aSetup(4_000, { meanwhile });
    checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(checkpointer.statements).toEqual([NOOP, ...passes]);
    await checkpoints.beforeUse(writer.handle);
    expect(writer.statements).toEqual([PASSIVE]);
  });

  test('is not checked when nothing was written', async () => {
    const { openSide } = aSetup(9_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(openSide).not.toHaveBeenCalled();
  });

  test('is checked again after the next commit when a check fails, without an effect on transactions', async () => {
    const { checkpoints, checkpointer, failures, openSide, writer } = aSetup(9_000);
    openSide.mockRejectedValueOnce(new Error('no more files'));
    checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(failures).toEqual([new Error('no more files')]);
    checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(checkpointer.statements).toEqual([NOOP, PASSIVE, NOOP]);
    writer.handle.all = () => Promise.reject(new Error('disk full'));
    await checkpoints.beforeUse(writer.handle);
    expect(failures).toHaveLength(2);
  });

  test('is checked on a new connection after its connection failed', async () => {
    const { checkpoints, checkpointer, failures, openSide } = aSetup(9_000);
    const { all } = checkpointer.handle;
    checkpointer.handle.all = () => Promise.reject(new Error('the thread has ended'));
    checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    checkpointer.handle.all = all;
    checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([openSide.mock.calls.length, failures]).toEqual([2, [new Error('the thread has ended')]]);
    expect(checkpointer.statements).toEqual(['close', NOOP, PASSIVE, NOOP]);
  });

  test('is not checked after the checkpoints are closed', async () => {
    const { checkpoints, checkpointer } = aSetup(9_000);
    checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    checkpoints.used();
    await checkpoints.close();
    checkpoints.used();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(checkpointer.statements).toEqual([NOOP, PASSIVE, NOOP, 'close']);
  });
});

const LIBRARIES: readonly [string, () => Promise<OpenSqlite>][] = [
  ['node:sqlite', () => Promise.resolve(openWorkerHandle)],
  [
    'sqlite3',
    async () => {
      const { loadAddon } = await import('../../../src/persistence/sqlite/addon-handle.ts');
      return loadAddon();
    },
  ],
];

test.each(LIBRARIES)('a log of %s restarts after all its pages are copied into the file', async (_name, library) => {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-checkpoints-'));
  try {
    const open = await library();
    const file = join(folder, 'log.db');
    const writer = await openReady(open, file, { role: 'writer', lockTimeoutMs: 5_000 });
    const reader = await openReady(open, file, { role: 'reader', lockTimeoutMs: 5_000 });
    const failures: unknown[] = [];
    const checkpoints = createCheckpoints({
      openSide: () => openReady(open, file, { role: 'checkpointer', lockTimeoutMs: 5_000 }),
      failed: (error) => failures.push(error),
    });
    const pagesInLog = async (): Promise<number> => Number((await writer.all(NOOP, []))[0]?.['log']);
    const uncopiedPages = async (): Promise<number> =>
      (await pagesInLog()) - Number((await writer.all(NOOP, []))[0]?.['checkpointed']);
    async function commit(bytes: number): Promise<void> {
      await checkpoints.beforeUse(writer);
      await writer.run('insert into blobs (bytes) values (zeroblob(?))', [bytes]);
      checkpoints.used();
    }
    await writer.run('create table blobs (bytes blob)', []);
    let rows = 0;
    const commitLarge = async (): Promise<void> => {
      await commit(8 << 20);
      rows += 1;
    };
    // 40 MiB are 5,120 pages of 8 KiB. A checkpoint starts at 4,000 pages, and the automatic one of SQLite at 16,000.
    while (rows < 5) await commitLarge();
    expect(await pagesInLog()).toBeGreaterThan(4_000);
    // A checkpoint between two commits can leave uncopied pages, but fewer than the threshold: no checkpoint follows
    // until further commits exceed it.
    await vi.waitFor(
      async () => {
        if ((await uncopiedPages()) !== 0) await commitLarge();
        expect(await uncopiedPages()).toBe(0);
      },
      { ...POLLING, interval: 2_000 },
    );
    await commit(1);
    expect(await pagesInLog()).toBeLessThan(100);
    expect(await reader.all('select count(*) as count from blobs', [])).toEqual([{ count: rows + 1 }]);
    await checkpoints.close();
    await reader.close();
    await writer.close();
    expect(failures).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
