import type { HealthCheck, HealthCheckQueue, HealthCheckStore } from '../../domain/deployments/health-check.ts';
import { Conflict, Unavailable } from '../../domain/errors.ts';
import { createWriteBehind } from '../tasks/write-behind.ts';
import type { Log } from '../telemetry/log.ts';

/** Most results of one commit. */
const BATCH = 100;
/** Longest that a reader waits for results that are not stored yet, in ms. */
const READABLE_MS = 1_000;

/** The queue with its flush at shutdown. */
export interface RunningHealthCheckQueue extends HealthCheckQueue {
  /** Resolves when all results so far are stored; rejects when that fails. */
  flush(): Promise<void>;
}

/** Writes results of probes behind their calls: no probe waits for the database. */
export function createHealthCheckQueue({
  store,
  log,
}: {
  readonly store: Pick<HealthCheckStore, 'add'>;
  readonly log: Pick<Log, 'error'>;
}): RunningHealthCheckQueue {
  const writes = createWriteBehind<HealthCheck>({
    commit: (batch) => store.add(...batch),
    batchLimit: BATCH,
    faultOf: (error) => {
      if (error instanceof Conflict) return 'record';
      return error instanceof Unavailable ? 'store' : 'either';
    },
    failed: (error, waiting) => log.error({ err: error, waiting }, 'health checks could not be stored; trying again'),
    dropped: (count) => log.error({ count }, 'health checks were lost: the store stayed away too long'),
    refused: ({ id }, error) => log.error({ err: error, healthCheckId: id }, 'a health check was not stored'),
  });
  return {
    keep: (check) => writes.push(check),
    caughtUp: () => writes.caughtUp(READABLE_MS),
    flush: () => writes.flush(),
  };
}
