import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
} from 'kysely';
import { type Checkpoints, createCheckpoints } from '../sqlite/checkpoints.ts';
import { type OpenSqlite, openReady, type SqliteHandle, type SqliteRole, type SqliteSetup } from '../sqlite/handle.ts';
import {
  createExclusiveConnection,
  type ExclusiveConnection,
  settleConnection,
} from '../sqlite/exclusive-connection.ts';
import { createConnectionQueue } from '../sqlite/connection-queue.ts';

/** Maximum wait for the connection, in ms. Each earlier user may wait for its own lock timeout. */
const TURN_WAIT_MS = 15_000;

/** A database file, and how it is opened. */
interface SqliteDatabase {
  readonly open: OpenSqlite;
  readonly file: string;
  readonly role: 'writer' | 'reader';
  readonly lockTimeoutMs: SqliteSetup['lockTimeoutMs'];
  readonly newSchema?: SqliteSetup['newSchema'];
  /** Called with failures that lose no data: of a checkpoint, or of closing a connection. */
  readonly failed: (error: unknown) => void;
}

/**
 * The driver itself queues the users of the connection (`connection-queue.ts`). Kysely's own mutex has no deadline, and
 * is never released after a transaction of the ORM whose `begin` fails.
 */
class AdapterWithoutMutex extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/**
 * One connection, used by one statement outside a transaction or by one transaction at a time. A connection whose state
 * is in doubt after a failure is checked before the next use, and replaced when it is not clean (ADR 0053).
 */
function driverOver({ open, file, role, lockTimeoutMs, newSchema, failed }: SqliteDatabase): Driver {
  const turns = createConnectionQueue(TURN_WAIT_MS);
  const connect = (as: SqliteRole): Promise<SqliteHandle> =>
    openReady(open, file, { role: as, lockTimeoutMs, newSchema });
  let handle: SqliteHandle | null = null;
  let checkpoints: Checkpoints | null = null;
  let isClosed = false;
  let current: { readonly exclusive: ExclusiveConnection; readonly endTurn: () => void } | null = null;

  function exclusiveOf(connection: DatabaseConnection): ExclusiveConnection {
    if (current === null || current.exclusive !== connection) throw new Error('The connection has been released.');
    return current.exclusive;
  }

  async function discard(broken: SqliteHandle): Promise<void> {
    handle = null;
    await broken.close().catch(failed);
  }

  /** Ends the use of the connection; does nothing when it has ended before. */
  async function release(connection: DatabaseConnection): Promise<void> {
    if (current === null || current.exclusive !== connection) return;
    const { exclusive, endTurn } = current;
    try {
      const closing = exclusive.close();
      const isClean = typeof closing === 'boolean' ? closing : await closing;
      const used = handle;
      if (!isClean && used !== null) await settleConnection(used).catch(() => discard(used));
      // Also after a statement outside a transaction, which is its own commit.
      checkpoints?.used();
    } finally {
      current = null;
      endTurn();
    }
  }

  return {
    async init() {
      handle = await connect(role);
      if (role === 'writer') checkpoints = createCheckpoints({ openSide: () => connect('checkpointer'), failed });
    },
    async acquireConnection() {
      const endTurn = await turns.next();
      try {
        if (isClosed) throw new Error('The SQLite driver is closed.');
        handle ??= await connect(role);
        await checkpoints?.beforeUse(handle);
        const exclusive = createExclusiveConnection(handle);
        current = { exclusive, endTurn };
        return exclusive;
      } catch (error) {
        endTurn();
        throw error;
      }
    },
    // A writer takes the write lock immediately. Otherwise a transaction that reads first would fail at its first
    // write, if another process wrote in between. A retry of the statement would fail again.
    async beginTransaction(on) {
      try {
        await exclusiveOf(on).command(role === 'reader' ? 'begin' : 'begin immediate');
      } catch (error) {
        // Kysely does not release the connection of a controlled transaction, such as the ORM's, that cannot begin.
        await release(on);
        throw error;
      }
    },
    commitTransaction: (on) => exclusiveOf(on).end('commit'),
    // SQLite may have rolled back by itself, as on a full disk. A second rollback fails, which would hide the reason.
    rollbackTransaction: (on) =>
      exclusiveOf(on)
        .end('rollback')
        .catch(() => {}),
    savepoint: (on, name) => exclusiveOf(on).command(`savepoint "${name}"`),
    rollbackToSavepoint: (on, name) => exclusiveOf(on).command(`rollback to "${name}"`),
    releaseSavepoint: (on, name) => exclusiveOf(on).command(`release "${name}"`),
    releaseConnection: release,
    async destroy() {
      isClosed = true;
      await checkpoints?.close();
      await handle?.close();
      checkpoints = null;
      handle = null;
    },
  };
}

/** Kysely's SQLite dialect over any implementation of `SqliteHandle`. */
export function sqliteDialect(database: SqliteDatabase): Dialect {
  return {
    createDriver: () => driverOver(database),
    createAdapter: () => new AdapterWithoutMutex(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}
