import { followBatches } from '../resolvers/batches.ts';
import { reconcilePayments } from '../resolvers/checkout.ts';
import { probeAll } from '../resolvers/health-checks.ts';
import type { Platform } from '../resolvers/operation/scope.ts';
import type { KeyRing } from './gateway/key-ring.ts';
import type { Stores } from './persistence/stores.ts';
import { systemClock } from './runtime/clock.ts';
import type { Log } from './runtime/telemetry/log.ts';
import { createReconciler } from './runtime/tasks/payment-reconciler.ts';
import { createRetention } from './runtime/tasks/retention.ts';
import type { Settings } from './runtime/settings/settings.ts';

/** Traces that retention removes at once where each step rewrites parts of tables. */
const CLICKHOUSE_STEP = 5_000;

/**
 * How often keys in use are read again and live feeds are checked. With the time a read may take, it is well within the 5
 * seconds after which a change made elsewhere must be in force (ADR 0056).
 */
const KEYS_MS = 1_500;

/** What is done again and again as long as the process runs. */
export interface Rounds {
  start(): void;
  /** Nothing begins any more; resolves when what removes old things has done its step. */
  stop(): Promise<void>;
}

/**
 * Looks for what has become of payments and batches, asks deployments whether they answer, ends feeds whose keys have
 * died, and removes what is old.
 */
export function createRounds(
  settings: Settings,
  parts: {
    readonly platform: Platform;
    readonly stores: Stores;
    readonly keyRing: Pick<KeyRing, 'refresh'>;
    readonly log: Log;
  },
): Rounds {
  const { platform, stores, keyRing, log } = parts;
  const looks = [
    {
      what: 'payments',
      seconds: platform.payments.configured ? settings.billing.reconcileSeconds : 0,
      reconcile: (since: Date, signal: AbortSignal) => reconcilePayments(platform, since, signal),
    },
    {
      what: 'batches',
      seconds: settings.batchPollingSeconds,
      reconcile: (_since: Date, signal: AbortSignal) => followBatches(platform, signal),
    },
    {
      what: 'deployments',
      seconds: settings.healthChecks.everySeconds,
      reconcile: (_since: Date, signal: AbortSignal) => probeAll(platform, signal),
    },
  ].map((look) => createReconciler({ ...look, clock: systemClock, log }));
  const traceSteps = settings.clickHouse === null ? {} : { stepSize: CLICKHOUSE_STEP };
  const retentions = [
    { what: 'traces', days: settings.retentionDays, forget: stores.traces.forget, ...traceSteps },
    { what: 'responses', days: settings.responseRetentionDays, forget: stores.responses.forget },
  ].map((kept) => createRetention({ ...kept, clock: systemClock, log }));
  let keys: NodeJS.Timeout | undefined;
  return {
    start() {
      keys = setInterval(() => {
        // First, because it marks the keys of feeds as used.
        platform.callerWatch.tend();
        void keyRing.refresh();
      }, KEYS_MS).unref();
      for (const look of looks) look.start();
      for (const retention of retentions) retention.start();
    },
    async stop() {
      clearInterval(keys);
      for (const look of looks) look.stop();
      await Promise.all(retentions.map((retention) => retention.stop()));
    },
  };
}
