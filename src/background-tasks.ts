import { refreshDeployments } from '../resolvers/deployment-changes.ts';
import { refreshFallbacks } from '../resolvers/fallbacks.ts';
import { probeAllDeployments } from '../resolvers/health-checks.ts';
import { refreshCalibrations } from '../resolvers/stored-decisions.ts';
import { refreshKeys } from '../resolvers/keys.ts';
import { refreshA2aAgents } from '../resolvers/a2a-agents.ts';
import { refreshGuardrails } from '../resolvers/guardrails.ts';
import { refreshSearchTools } from '../resolvers/search-tools.ts';
import { refreshVectorStoreIndexes } from '../resolvers/vector-store-indexes.ts';
import { refreshVectorStores } from '../resolvers/vector-stores.ts';
import { refreshOpenCosts } from '../resolvers/open-costs.ts';
import { refreshPolicies } from '../resolvers/policies.ts';
import { refreshToolPolicies } from '../resolvers/tools.ts';
import { refreshPrompts } from '../resolvers/prompts.ts';
import { refreshMcpServers } from '../resolvers/mcp-servers.ts';
import { refreshEndpoints } from '../resolvers/pass-through-endpoints.ts';
import { classifyNewTraces } from '../resolvers/lens-classification.ts';
import { refreshSettings } from '../resolvers/settings-upkeep.ts';
import type { Platform, Scope } from '../resolvers/operation/scope.ts';
import type { Authorship } from './domain/audit-log/audit-entry.ts';
import type { PeriodicTask, ScheduledTask } from './domain/scheduler.ts';
import { composeDuties } from './startup/compose-duties.ts';
import { composeLensWorker } from './startup/compose-lens.ts';
import type { StartContext } from './startup/context.ts';
import { systemAuthor, systemScope } from './startup/system-scope.ts';

const MS_PER_SECOND = 1_000;

/**
 * Interval at which the keys in use are read and the keys of live feeds are checked, in seconds. A change by another
 * process must hold within 5 seconds (ADR 0056). The interval and the time of one read together are well below that.
 */
const KEYS_SECONDS = 1.5;
/**
 * Interval of reads of models, fallbacks, pass-through endpoints, guardrails, agents, vector stores and MCP servers
 * that other processes changed, in seconds.
 */
const ROWS_SECONDS = 2;
/** Interval of reads of settings that other processes stored, in seconds. */
const SETTINGS_SECONDS = 3;
/**
 * Interval of the reads of rows and settings in a process that is alone, in seconds. Each operation of the process
 * reads what it has changed. The periodic reads only make up for such a read that failed.
 */
const ALONE_SECONDS = 30;
/**
 * Interval of reads of decision outcomes, in seconds. The operation that records an outcome leaves the refresh to these
 * reads.
 */
const OUTCOMES_SECONDS = 10;

/** Deadline of one run of a task that reads the store, in seconds. */
const READ_DEADLINE_SECONDS = 60;
/** Deadline of one run of a task that calls models, in seconds. */
const CALLS_DEADLINE_SECONDS = 600;

/** Periodic work of the process. Each task runs an operation as a system caller. */
export interface BackgroundTasks {
  start(): void;
  /** Starts no further work; resolves when the work under way has ended. Repeated calls are harmless. */
  stop(): Promise<void>;
}

/**
 * Refreshes what this process holds in memory, probes deployments, ends feeds of invalid keys, works on lens runs, and
 * claims duties. `alone`: no other process uses the database. `authorship` names the tasks in the audit log.
 */
export function createBackgroundTasks(
  context: Pick<StartContext, 'settings' | 'scheduler' | 'log'>,
  platform: Platform,
  about: { readonly alone: boolean; readonly authorship: Authorship },
): BackgroundTasks {
  const duties = composeDuties(context, platform, about);
  const lensWorker = composeLensWorker(context, platform, about.authorship);
  let tasks: readonly ScheduledTask[] = [];
  return {
    start() {
      tasks = periodicTasks(context, platform, about).map((task) => context.scheduler.every(task));
      for (const duty of duties) duty.start();
      lensWorker.start();
    },
    async stop() {
      await Promise.all([lensWorker.stop(), ...duties.map((duty) => duty.stop()), ...tasks.map((task) => task.stop())]);
    },
  };
}

interface SystemTask {
  readonly name: string;
  /**
   * Time from the end of a run to the start of the next, in seconds; zero never runs the task. The first run is at the
   * start.
   */
  readonly seconds: number;
  readonly deadlineSeconds?: number;
  readonly operation: (scope: Scope, input: undefined) => Promise<unknown>;
}

const periodicTasks = (
  { settings }: Pick<StartContext, 'settings'>,
  platform: Platform,
  { alone, authorship }: { readonly alone: boolean; readonly authorship: Authorship },
): readonly PeriodicTask[] =>
  systemTasks(settings, alone)
    .filter(({ seconds }) => seconds > 0)
    .map(({ name, seconds, deadlineSeconds = READ_DEADLINE_SECONDS, operation }) => ({
      name,
      everyMs: seconds * MS_PER_SECOND,
      firstMs: 0,
      deadlineMs: deadlineSeconds * MS_PER_SECOND,
      async run(signal) {
        await authorship.by(systemAuthor(name), () => operation(systemScope(platform, name, signal), undefined));
      },
    }));

function systemTasks(settings: StartContext['settings'], alone: boolean): readonly SystemTask[] {
  const rowsSeconds = alone ? ALONE_SECONDS : ROWS_SECONDS;
  return [
    { name: 'key-refresh', seconds: KEYS_SECONDS, operation: refreshKeys },
    { name: 'model-refresh', seconds: rowsSeconds, operation: refreshDeployments },
    { name: 'fallback-refresh', seconds: rowsSeconds, operation: refreshFallbacks },
    { name: 'pass-through-refresh', seconds: rowsSeconds, operation: refreshEndpoints },
    { name: 'a2a-agent-refresh', seconds: rowsSeconds, operation: refreshA2aAgents },
    { name: 'guardrail-refresh', seconds: rowsSeconds, operation: refreshGuardrails },
    { name: 'vector-store-refresh', seconds: rowsSeconds, operation: refreshVectorStores },
    { name: 'vector-store-index-refresh', seconds: rowsSeconds, operation: refreshVectorStoreIndexes },
    { name: 'search-tool-refresh', seconds: rowsSeconds, operation: refreshSearchTools },
    { name: 'policy-refresh', seconds: rowsSeconds, operation: refreshPolicies },
    { name: 'tool-policy-refresh', seconds: rowsSeconds, operation: refreshToolPolicies },
    { name: 'prompt-refresh', seconds: rowsSeconds, operation: refreshPrompts },
    { name: 'mcp-server-refresh', seconds: rowsSeconds, operation: refreshMcpServers },
    { name: 'settings-refresh', seconds: alone ? ALONE_SECONDS : SETTINGS_SECONDS, operation: refreshSettings },
    { name: 'open-costs', seconds: ROWS_SECONDS, operation: refreshOpenCosts },
    { name: 'decision-outcomes', seconds: OUTCOMES_SECONDS, operation: refreshCalibrations },
    {
      name: 'lens-signals',
      seconds: settings.lens.signalSeconds,
      deadlineSeconds: CALLS_DEADLINE_SECONDS,
      operation: classifyNewTraces,
    },
    {
      name: 'health-check',
      seconds: settings.healthChecks.everySeconds,
      deadlineSeconds: CALLS_DEADLINE_SECONDS,
      operation: probeAllDeployments,
    },
  ];
}
