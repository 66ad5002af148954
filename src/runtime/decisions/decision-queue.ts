import type { DecisionQueue, DecisionStore, StoredDecision } from '../../domain/decisions/stored-decision.ts';
import { Conflict, Unavailable } from '../../domain/errors.ts';
import { createWriteBehind } from '../tasks/write-behind.ts';
import type { Log } from '../telemetry/log.ts';

/** Most decisions of one commit. */
const BATCH = 100;
/** Longest that a reader waits for decisions that are not stored yet, in ms. */
const READABLE_MS = 1_000;

/** The queue with its flush at shutdown. */
export interface RunningDecisionQueue extends DecisionQueue {
  /** Resolves when all decisions so far are stored; rejects when that fails. */
  flush(): Promise<void>;
}

/** Writes decisions behind their calls: no call waits for the database. */
export function createDecisionQueue({
  store,
  log,
}: {
  readonly store: Pick<DecisionStore, 'add'>;
  readonly log: Pick<Log, 'error'>;
}): RunningDecisionQueue {
  const writes = createWriteBehind<StoredDecision>({
    commit: (batch) => store.add(...batch),
    batchLimit: BATCH,
    faultOf: (error) => {
      if (error instanceof Conflict) return 'record';
      return error instanceof Unavailable ? 'store' : 'either';
    },
    failed: (error, waiting) => log.error({ err: error, waiting }, 'decisions could not be stored; trying again'),
    dropped: (count) => log.error({ count }, 'decisions were lost: the store stayed away too long'),
    refused: ({ id }, error) => log.error({ err: error, decisionId: id }, 'a decision was not stored'),
  });
  return {
    keep: (decision) => writes.push(decision),
    caughtUp: () => writes.caughtUp(READABLE_MS),
    flush: () => writes.flush(),
  };
}
