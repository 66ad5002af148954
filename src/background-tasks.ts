import { followBatches } from '../resolvers/batches.ts';
import { refreshDeployments } from '../resolvers/deployment-changes.ts';
import { refreshFallbacks } from '../resolvers/fallbacks.ts';
import { reconcilePayments } from '../resolvers/checkout.ts';
import { probeAllDeployments } from '../resolvers/health-checks.ts';
import { refreshCalibrations, removeExpiredDecisions } from '../resolvers/stored-decisions.ts';
import { resetBudgetWindows } from '../resolvers/key-upkeep.ts';
import { refreshKeys } from '../resolvers/keys.ts';
import { refreshEndpoints } from '../resolvers/pass-through-endpoints.ts';
import { classifyNewTraces } from '../resolvers/lens-classification.ts';
import { removeExpiredLensWork } from '../resolvers/lens-workers.ts';
import { createLoaders } from '../resolvers/operation/loaders.ts';
import { refreshSettings } from '../resolvers/settings-upkeep.ts';
import { resetOwnerWindows } from '../resolvers/owner-windows.ts';
import type { Platform, Scope } from '../resolvers/operation/scope.ts';
import { removeExpiredResponses } from '../resolvers/responses.ts';
import { removeExpiredTraces } from '../resolvers/trace-removal.ts';
import { Client } from './domain/free-tier/client.ts';
import { SystemCaller } from './domain/system-caller.ts';
import { systemClock } from './runtime/clock.ts';
import { createReconciler } from './runtime/tasks/payment-reconciler.ts';
import { createRetention } from './runtime/tasks/retention.ts';
import { composeLensWorker } from './startup/compose-lens.ts';
import type { StartContext } from './startup/context.ts';

/** Traces of one step of retention in ClickHouse, where each step rewrites parts of tables. */
const CLICKHOUSE_STEP = 5_000;

/**
 * How often keys in use are read again and live feeds are checked, in ms. With the time of a read it is well within the
 * 5 seconds after which a change by another process must hold (ADR 0056).
 */
const KEYS_MS = 1_500;

/** Interval between resets of ended budget windows, in seconds. */
const RESETS_SECONDS = 5;

/** Interval between looks for models and credentials that other processes changed, in seconds. */
const MODELS_SECONDS = 2;
/** Interval between reads of the pass-through entries, in seconds: a change by another process holds within it. */
const ENTRIES_SECONDS = 2;
/** Interval at which settings that other processes have stored are read, in seconds. */
const SETTINGS_SECONDS = 3;
/** Interval between looks for outcomes of decisions that other processes recorded, in seconds. */
const OUTCOMES_SECONDS = 10;
/** Days for which reviews and answers of lens runs are kept to be used again. */
const LENS_WORK_DAYS = 30;

/** Periodic work of the process. Each task runs an operation as a system caller. */
export interface BackgroundTasks {
  start(): void;
  /** Starts no further work; resolves when the current step of retention is done. It may be called again. */
  stop(): Promise<void>;
}

/** The scope of a background task. `task` stands in the place of a key hash on the rows that the task writes. */
function systemScope(platform: Platform, task: string, signal: AbortSignal): Scope {
  const caller = new SystemCaller(task);
  return { platform, caller, client: new Client('', null), signal, loaders: createLoaders(platform.stores, caller) };
}

/**
 * Reconciles payments, follows batches, probes deployments, ends feeds of keys that no longer hold, and removes what is
 * older than its retention.
 */
export function createBackgroundTasks(
  context: Pick<StartContext, 'settings' | 'log'>,
  platform: Platform,
): BackgroundTasks {
  const reconcilers = reconcilersOf(context, platform);
  const retentions = retentionsOf(context, platform);
  const keysScope = systemScope(platform, 'key-refresh', new AbortController().signal);
  const lensWorker = composeLensWorker(context, platform);
  let keys: NodeJS.Timeout | undefined;
  return {
    start() {
      keys = setInterval(() => void refreshKeys(keysScope, undefined), KEYS_MS).unref();
      for (const reconciler of reconcilers) reconciler.start();
      for (const retention of retentions) retention.start();
      lensWorker.start();
    },
    async stop() {
      clearInterval(keys);
      for (const reconciler of reconcilers) reconciler.stop();
      await Promise.all([lensWorker.stop(), ...retentions.map((retention) => retention.stop())]);
    },
  };
}

function reconcilersOf({ settings, log }: Pick<StartContext, 'settings' | 'log'>, platform: Platform) {
  return [
    {
      what: 'payments',
      seconds: platform.payments.configured ? settings.billing.reconcileSeconds : 0,
      reconcile: (since: Date, signal: AbortSignal) =>
        reconcilePayments(systemScope(platform, 'payment-reconciliation', signal), since),
    },
    {
      what: 'budget windows',
      seconds: RESETS_SECONDS,
      reconcile: (_since: Date, signal: AbortSignal) =>
        resetBudgetWindows(systemScope(platform, 'budget-windows', signal), undefined),
    },
    {
      what: 'budget windows of users and teams',
      seconds: RESETS_SECONDS,
      reconcile: (_since: Date, signal: AbortSignal) =>
        resetOwnerWindows(systemScope(platform, 'owner-windows', signal), undefined),
    },
    {
      what: 'stored models',
      seconds: MODELS_SECONDS,
      reconcile: (_since: Date, signal: AbortSignal) =>
        refreshDeployments(systemScope(platform, 'model-refresh', signal), undefined),
    },
    {
      what: 'stored fallbacks',
      seconds: MODELS_SECONDS,
      reconcile: (_since: Date, signal: AbortSignal) =>
        refreshFallbacks(systemScope(platform, 'fallback-refresh', signal), undefined),
    },
    {
      what: 'pass-through entries',
      seconds: ENTRIES_SECONDS,
      reconcile: (_since: Date, signal: AbortSignal) =>
        refreshEndpoints(systemScope(platform, 'pass-through entries', signal), undefined),
    },
    {
      what: 'stored settings',
      seconds: SETTINGS_SECONDS,
      reconcile: (_since: Date, signal: AbortSignal) =>
        refreshSettings(systemScope(platform, 'settings', signal), undefined),
    },
    {
      what: 'outcomes of decisions',
      seconds: OUTCOMES_SECONDS,
      reconcile: (_since: Date, signal: AbortSignal) =>
        refreshCalibrations(systemScope(platform, 'decision-outcomes', signal), undefined),
    },
    {
      what: 'batches',
      seconds: settings.batchPollingSeconds,
      reconcile: (_since: Date, signal: AbortSignal) =>
        followBatches(systemScope(platform, 'batch-polling', signal), undefined),
    },
    {
      what: 'signals of traces',
      seconds: settings.lens.signalSeconds,
      reconcile: async (_since: Date, signal: AbortSignal) => {
        await classifyNewTraces(systemScope(platform, 'lens-signals', signal), undefined);
      },
    },
    {
      what: 'deployments',
      seconds: settings.healthChecks.everySeconds,
      reconcile: (_since: Date, signal: AbortSignal) =>
        probeAllDeployments(systemScope(platform, 'health-check', signal), undefined),
    },
  ].map((task) => createReconciler({ ...task, clock: systemClock, log }));
}

function retentionsOf({ settings, log }: Pick<StartContext, 'settings' | 'log'>, platform: Platform) {
  // A step is never cancelled: it is small, and the shutdown waits for it.
  const scope = systemScope(platform, 'retention', new AbortController().signal);
  const traceSteps = settings.clickHouse === null ? {} : { stepSize: CLICKHOUSE_STEP };
  return [
    {
      what: 'traces',
      days: settings.retentionDays,
      forget: (beforeMs: number, limit: number) => removeExpiredTraces(scope, { beforeMs, limit }),
      ...traceSteps,
    },
    {
      what: 'responses',
      days: settings.responseRetentionDays,
      forget: (beforeMs: number, limit: number) => removeExpiredResponses(scope, { beforeMs, limit }),
    },
    {
      what: 'decisions',
      days: settings.decisionRetentionDays,
      forget: (beforeMs: number, limit: number) => removeExpiredDecisions(scope, { beforeMs, limit }),
    },
    {
      what: 'reviews of lenses',
      days: LENS_WORK_DAYS,
      forget: (beforeMs: number, limit: number) => removeExpiredLensWork(scope, { beforeMs, limit }),
    },
  ].map((task) => createRetention({ ...task, clock: systemClock, log }));
}
