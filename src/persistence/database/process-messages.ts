import { sql } from 'kysely';
import type { ProcessListener, ProcessMessages } from '../../domain/process-messages.ts';
import { withDeadline } from '../../domain/with-deadline.ts';
import type { StoresOptions } from '../options.ts';
import type { Database } from './database.ts';

/** PostgreSQL channel. Channels belong to one database. */
const CHANNEL = 'lensgate';
/** Idempotent, so it also serves as the check that the connection is alive. */
const LISTEN = `listen ${CHANNEL}`;
/** Maximum size of a message, in bytes. PostgreSQL accepts payloads of less than 8,000. */
const MOST_BYTES = 7_500;
/** First and longest wait before another attempt to connect, in ms. Each failed attempt doubles the wait. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/**
 * Interval of checks of the connection, in ms. The connection counts as lost when a check or the first statement takes
 * longer.
 */
const ALIVE_MS = 5_000;

/** The parts of a connection of the `pg` driver that listening needs. */
interface ListeningClient {
  on(event: 'notification', handler: (message: { readonly payload?: string }) => void): unknown;
  on(event: 'error' | 'end', handler: () => void): unknown;
  query(text: string): Promise<unknown>;
  release(destroy: boolean): void;
}

interface ClientPool {
  connect(): Promise<ListeningClient>;
}

/**
 * Messages over LISTEN and NOTIFY, on one connection of the pool. Null for SQLite, which one process uses at a time.
 */
export function createProcessMessages(
  { orm, flavour, inFlight, writer }: Pick<Database, 'orm' | 'flavour' | 'inFlight' | 'writer'>,
  log: StoresOptions['log'],
): ProcessMessages | null {
  if (flavour !== 'postgresql') return null;
  return {
    mostBytes: MOST_BYTES,
    send: (text) =>
      inFlight.run(async () => {
        await sql`select pg_notify(${CHANNEL}, ${text})`.execute(writer());
      }),
    listen: (listener) =>
      keepListening(async () => ((await orm.driver.getConnection().getNativeClient()) as ClientPool).connect(), {
        ...listener,
        failed: (error) =>
          log.warn(
            { err: error },
            'Changes of other processes are seen with a delay of a few seconds: the connection that listens was lost.',
          ),
      }),
  };
}

interface Listener extends ProcessListener {
  /** Called once for each loss of the connection, and when the first attempt to connect fails. */
  readonly failed: (error: unknown) => void;
}

/**
 * Listens until `stop`, on a new connection after each loss. The timers are not tasks of the scheduler: the delay
 * between attempts grows, and a check belongs to one connection.
 */
function keepListening(
  connect: () => Promise<ListeningClient>,
  { message, joined, failed }: Listener,
): { stop(): Promise<void> } {
  let isStopped = false;
  let current: ListeningClient | null = null;
  /** The interval of the checks while connected, else the timeout until the next attempt. */
  let timer: NodeJS.Timeout | undefined;
  let waitMs = FIRST_WAIT_MS;
  /** Whether the last check of the connection was answered. */
  let isAnswered = true;
  let opening = open();

  async function open(): Promise<void> {
    let client: ListeningClient | null = null;
    try {
      client = await connect();
      await follow(client);
    } catch (error) {
      if (client !== null && client !== current) client.release(true);
      // Later attempts follow a loss or a failed attempt, which is reported already.
      const isFirstAttempt = waitMs === FIRST_WAIT_MS;
      if (isFirstAttempt && !isStopped) failed(error);
      reconnectLater();
    }
  }

  async function follow(client: ListeningClient): Promise<void> {
    client.on('notification', ({ payload = '' }) => message(payload));
    client.on('error', () => onLoss(client));
    client.on('end', () => onLoss(client));
    await withDeadline(client.query(LISTEN), ALIVE_MS, () => {
      throw new Error(`The connection did not answer within ${ALIVE_MS} ms.`);
    });
    if (isStopped) {
      client.release(true);
      return;
    }
    current = client;
    waitMs = FIRST_WAIT_MS;
    isAnswered = true;
    timer = setInterval(() => void checkAlive(client), ALIVE_MS).unref();
    joined();
  }

  async function checkAlive(client: ListeningClient): Promise<void> {
    if (!isAnswered) return onLoss(client);
    isAnswered = false;
    try {
      await client.query(LISTEN);
      if (current === client) isAnswered = true;
    } catch {
      onLoss(client);
    }
  }

  function onLoss(client: ListeningClient): void {
    if (current !== client) return;
    current = null;
    client.release(true);
    failed(new Error('The connection was closed.'));
    reconnectLater();
  }

  function reconnectLater(): void {
    clearInterval(timer);
    if (isStopped) return;
    timer = setTimeout(() => {
      opening = open();
    }, waitMs).unref();
    waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
  }

  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await opening;
      const last = current;
      current = null;
      last?.release(true);
    },
  };
}
