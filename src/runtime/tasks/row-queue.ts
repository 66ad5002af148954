import { Conflict, Unavailable } from '../../domain/errors.ts';
import type { RowQueue } from '../../domain/row-queue.ts';
import type { Log } from '../telemetry/log.ts';
import { createWriteBehind } from './write-behind.ts';

/** Maximum number of rows of one commit. */
const BATCH = 100;
/** Maximum time that a reader waits for rows that are not stored yet, in ms. */
const READABLE_MS = 1_000;

/** The queue with its flush at shutdown. */
export interface RunningRowQueue<Row> extends RowQueue<Row> {
  /** Resolves when no row waits for the store; rejects when a commit fails. */
  flush(): Promise<void>;
}

/** Stores rows in the background: no call waits for the write. */
export function createRowQueue<Row extends { readonly id: string }>({
  store,
  noun,
  log,
}: {
  readonly store: { add(...rows: readonly Row[]): Promise<void> };
  /** Plural name of the rows in the log. */
  readonly noun: string;
  readonly log: Pick<Log, 'error'>;
}): RunningRowQueue<Row> {
  const writes = createWriteBehind<Row>({
    commit: (batch) => store.add(...batch),
    batchLimit: BATCH,
    faultOf: (error) => {
      if (error instanceof Conflict) return 'record';
      return error instanceof Unavailable ? 'store' : 'either';
    },
    failed: (error, waiting) => log.error({ err: error, waiting }, `${noun} could not be stored; trying again`),
    dropped: (count) => log.error({ count }, `${noun} were lost: the store was unavailable for too long`),
    refused: ({ id }, error) => log.error({ err: error, id }, `the store refused one of the ${noun}`),
  });
  return {
    enqueue: (row) => writes.push(row),
    caughtUp: () => writes.caughtUp(READABLE_MS),
    flush: () => writes.flush(),
  };
}
