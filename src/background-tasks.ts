import { refreshDeployments } from '../resolvers/deployment-changes.ts';
import { refreshFallbacks } from '../resolvers/fallbacks.ts';
import { probeAllDeployments } from '../resolvers/health-checks.ts';
import { refreshCalibrations } from '../resolvers/stored-decisions.ts';
import { refreshKeys } from '../resolvers/keys.ts';
import { refreshGuardrails } from '../resolvers/guardrails.ts';
import { refreshEndpoints } from '../resolvers/pass-through-endpoints.ts';
import { classifyNewTraces } from '../resolvers/lens-classification.ts';
import { refreshSettings } from '../resolvers/settings-upkeep.ts';
import type { Platform } from '../resolvers/operation/scope.ts';
import type { Authorship } from './domain/audit-log/audit-entry.ts';
import { createReconciler } from './runtime/tasks/payment-reconciler.ts';
import { composeDuties } from './startup/compose-duties.ts';
import { composeLensWorker } from './startup/compose-lens.ts';
import type { StartContext } from './startup/context.ts';
import { systemScope } from './startup/system-scope.ts';

/**
 * How often keys in use are read again and live feeds are checked, in ms. With the time of a read it is well within the
 * 5 seconds after which a change by another process must hold (ADR 0056).
 */
const KEYS_MS = 1_500;

/** Interval between checks for models and credentials that other processes changed, in seconds. */
const MODELS_SECONDS = 2;
/** Interval between reads of pass-through entries and guardrails, in seconds: a change by another process holds within it. */
const ENTRIES_SECONDS = 2;
/** Interval at which settings that other processes have stored are read, in seconds. */
const SETTINGS_SECONDS = 3;
/** Interval between checks for outcomes of decisions that other processes recorded, in seconds. */
const OUTCOMES_SECONDS = 10;

/** Deadline of a check of the store, in seconds, and of one that calls models. */
const LONGEST_LOOK_SECONDS = 60;
const LONGEST_CALLS_SECONDS = 600;

/** Periodic work of the process. Each task runs an operation as a system caller. */
export interface BackgroundTasks {
  start(): void;
  /** Starts no further work; resolves when the duties under way have ended. It may be called again. */
  stop(): Promise<void>;
}

/**
 * Refreshes what this process holds in memory, probes deployments, ends feeds of invalid keys, works on lens runs, and
 * claims duties. `alone`: no other process uses the database. `authorship` names duties in the audit log.
 */
export function createBackgroundTasks(
  context: Pick<StartContext, 'settings' | 'log'>,
  platform: Platform,
  about: { readonly alone: boolean; readonly authorship: Authorship },
): BackgroundTasks {
  const reconcilers = reconcilersOf(context, platform);
  const duties = composeDuties(context, platform, about);
  const keysScope = systemScope(platform, 'key-refresh', new AbortController().signal);
  const lensWorker = composeLensWorker(context, platform);
  let keys: NodeJS.Timeout | undefined;
  return {
    start() {
      keys = setInterval(() => void refreshKeys(keysScope, undefined), KEYS_MS).unref();
      for (const reconciler of reconcilers) reconciler.start();
      for (const duty of duties) duty.start();
      lensWorker.start();
    },
    async stop() {
      clearInterval(keys);
      for (const reconciler of reconcilers) reconciler.stop();
      await Promise.all([lensWorker.stop(), ...duties.map((duty) => duty.stop())]);
    },
  };
}

function reconcilersOf({ settings, log }: Pick<StartContext, 'settings' | 'log'>, platform: Platform) {
  return [
    {
      what: 'stored models',
      seconds: MODELS_SECONDS,
      longestSeconds: LONGEST_LOOK_SECONDS,
      reconcile: (signal: AbortSignal) => refreshDeployments(systemScope(platform, 'model-refresh', signal), undefined),
    },
    {
      what: 'stored fallbacks',
      seconds: MODELS_SECONDS,
      longestSeconds: LONGEST_LOOK_SECONDS,
      reconcile: (signal: AbortSignal) =>
        refreshFallbacks(systemScope(platform, 'fallback-refresh', signal), undefined),
    },
    {
      what: 'pass-through entries',
      seconds: ENTRIES_SECONDS,
      longestSeconds: LONGEST_LOOK_SECONDS,
      reconcile: (signal: AbortSignal) =>
        refreshEndpoints(systemScope(platform, 'pass-through entries', signal), undefined),
    },
    {
      what: 'stored guardrails',
      seconds: ENTRIES_SECONDS,
      longestSeconds: LONGEST_LOOK_SECONDS,
      reconcile: (signal: AbortSignal) =>
        refreshGuardrails(systemScope(platform, 'guardrail-refresh', signal), undefined),
    },
    {
      what: 'stored settings',
      seconds: SETTINGS_SECONDS,
      longestSeconds: LONGEST_LOOK_SECONDS,
      reconcile: (signal: AbortSignal) => refreshSettings(systemScope(platform, 'settings', signal), undefined),
    },
    {
      what: 'outcomes of decisions',
      seconds: OUTCOMES_SECONDS,
      longestSeconds: LONGEST_LOOK_SECONDS,
      reconcile: (signal: AbortSignal) =>
        refreshCalibrations(systemScope(platform, 'decision-outcomes', signal), undefined),
    },
    {
      what: 'signals of traces',
      seconds: settings.lens.signalSeconds,
      longestSeconds: LONGEST_CALLS_SECONDS,
      reconcile: async (signal: AbortSignal) => {
        await classifyNewTraces(systemScope(platform, 'lens-signals', signal), undefined);
      },
    },
    {
      what: 'deployments',
      seconds: settings.healthChecks.everySeconds,
      longestSeconds: LONGEST_CALLS_SECONDS,
      reconcile: (signal: AbortSignal) => probeAllDeployments(systemScope(platform, 'health-check', signal), undefined),
    },
  ].map((task) => createReconciler({ ...task, log }));
}
