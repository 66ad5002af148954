import { followBatches } from '../resolvers/batches.ts';
import { reconcilePayments } from '../resolvers/checkout.ts';
import { probeAll } from '../resolvers/health-checks.ts';
import type { Platform } from '../resolvers/scope.ts';
import type { Stores } from './persistence/stores.ts';
import { systemClock } from './runtime/clock.ts';
import type { Log } from './runtime/log.ts';
import { createReconciler } from './runtime/reconciler.ts';
import { createRetention } from './runtime/retention.ts';
import type { Settings } from './runtime/settings.ts';

/** Traces that retention removes at once where each step rewrites parts of tables. */
const CLICKHOUSE_STEP = 5_000;

/** How often the keys of live feeds are looked at: as often as their streams are given a sign of life. */
const FEEDS_MS = 12_000;

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
  { platform, stores, log }: { readonly platform: Platform; readonly stores: Stores; readonly log: Log },
): Rounds {
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
  let feeds: NodeJS.Timeout | undefined;
  return {
    start() {
      feeds = setInterval(() => platform.callerWatch.tend(), FEEDS_MS).unref();
      for (const look of looks) look.start();
      for (const retention of retentions) retention.start();
    },
    async stop() {
      clearInterval(feeds);
      for (const look of looks) look.stop();
      await Promise.all(retentions.map((retention) => retention.stop()));
    },
  };
}
