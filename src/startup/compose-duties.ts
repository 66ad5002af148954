import { hostname } from 'node:os';
import { removeExpiredAuditEntries } from '../../resolvers/audit-log.ts';
import { followBatches } from '../../resolvers/batches.ts';
import { reconcilePayments } from '../../resolvers/checkout.ts';
import { claimDuty, endDuty, extendDuty } from '../../resolvers/duties.ts';
import { removeExpiredHealthChecks } from '../../resolvers/health-checks.ts';
import { resetBudgetWindows } from '../../resolvers/key-upkeep.ts';
import { removeExpiredLensWork } from '../../resolvers/lens-workers.ts';
import type { Platform, Scope } from '../../resolvers/operation/scope.ts';
import { resetOwnerWindows } from '../../resolvers/owner-windows.ts';
import { removeExpiredResponses } from '../../resolvers/responses.ts';
import { removeExpiredSpend } from '../../resolvers/spend-removal.ts';
import { removeExpiredDecisions } from '../../resolvers/stored-decisions.ts';
import { removeExpiredTraces } from '../../resolvers/trace-removal.ts';
import type { Authorship } from '../domain/audit-log/audit-entry.ts';
import type { DutyBackend } from '../domain/jobs/duty.ts';
import { type DutyRun, dutySpan } from '../domain/jobs/duty-run.ts';
import { retentionMs } from '../domain/settings/retention.ts';
import { systemClock } from '../runtime/clock.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createDutyRunner, type DutyRunner } from '../runtime/tasks/duty-runner.ts';
import { removeOld } from '../runtime/tasks/retention.ts';
import { sinceLastSuccess } from '../runtime/tasks/since-last-success.ts';
import type { StartContext } from './context.ts';
import { systemAuthor, systemScope } from './system-scope.ts';

const MS_PER_SECOND = 1_000;
const MS_PER_DAY = 86_400_000;
/** Interval between resets of ended budget windows, in seconds. */
const RESETS_SECONDS = 5;
/** Interval between rounds of retention, in seconds. */
const RETENTION_SECONDS = 600;
/** Delay of the first round of retention, in ms: the first requests need the CPU time. */
const FIRST_ROUND_MS = 100;
/** Maximum number of traces that one retention step deletes in ClickHouse: each step rewrites parts of tables. */
const CLICKHOUSE_STEP = 5_000;
/** Maximum number of spend rows of one retention step: a busy gateway adds some hundred rows per second. */
const SPEND_STEP = 1_000;
/** Deadline of a run, in seconds. The rest of a long retention is removed in the next period. */
const MAX_SECONDS = { reset: 60, upstream: 300, retention: 1_800 } as const;
/** Days for which reviews and answers of lens runs stay cached. */
const LENS_WORK_DAYS = 30;

/** A duty and its work. */
interface PlannedDuty {
  readonly name: string;
  /** Period. The duty never runs when it is 0. */
  readonly seconds: number;
  /** Deadline of a run. */
  readonly maxSeconds: number;
  /** Delay after the start, in ms; 0 when absent. */
  readonly firstClaimMs?: number;
  readonly work: (signal: AbortSignal) => Promise<void>;
}

/**
 * Periodic work that one of all processes of a database does, as jobs. `alone`: no other process uses the database. The
 * periods then begin with this process, so that no duty waits for a job of an earlier process. Each run is exported as
 * a span.
 */
export function composeDuties(
  context: Pick<StartContext, 'settings' | 'scheduler' | 'log'>,
  platform: Platform,
  { alone, authorship }: { readonly alone: boolean; readonly authorship: Authorship },
): readonly DutyRunner[] {
  const anchor = alone ? systemClock.now() : new Date(0);
  const onRun = (run: DutyRun): void => platform.spanExport?.push(dutySpan(run, randomIds));
  const workerId = `${hostname()}:${process.pid}:${randomIds.uuid()}`;
  return [...upkeepOf(context, platform), ...retentionsOf(context, platform)]
    .filter(({ seconds }) => seconds > 0)
    .map(({ name, seconds, maxSeconds, firstClaimMs = 0, work }) =>
      createDutyRunner({
        duty: { name, everyMs: seconds * MS_PER_SECOND },
        backend: backendOf(platform, { name, workerId, alone }),
        alone,
        anchor,
        deadlineMs: maxSeconds * MS_PER_SECOND,
        firstClaimMs,
        work: (signal) => authorship.by(systemAuthor(name), () => work(signal)),
        onRun,
        clock: systemClock,
        scheduler: context.scheduler,
        log: context.log,
      }),
    );
}

function backendOf(
  platform: Platform,
  { name, workerId, alone }: { readonly name: string; readonly workerId: string; readonly alone: boolean },
): DutyBackend {
  const scope = systemScope(platform, name, new AbortController().signal);
  // The first claim of a process that is alone cancels the running jobs, which earlier processes left behind.
  let leftBehind = alone;
  return {
    async claim(duty, period) {
      const job = await claimDuty(scope, { duty, period, workerId, leftBehind });
      leftBehind = false;
      return job;
    },
    extend: (duty, claim) => extendDuty(scope, { duty, claim }),
    end: (duty, claim, outcome) => endDuty(scope, { duty, claim, outcome }),
  };
}

function upkeepOf({ settings }: Pick<StartContext, 'settings'>, platform: Platform): readonly PlannedDuty[] {
  const asTask = (name: string, run: (scope: Scope) => Promise<void>) => ({
    name,
    work: (signal: AbortSignal) => run(systemScope(platform, name, signal)),
  });
  const payments = sinceLastSuccess(systemClock, (since, signal) =>
    reconcilePayments(systemScope(platform, 'payment-reconciliation', signal), since),
  );
  return [
    {
      name: 'payments',
      seconds: platform.payments.configured ? settings.billing.reconcileSeconds : 0,
      maxSeconds: MAX_SECONDS.upstream,
      work: payments,
    },
    {
      ...asTask('budget-windows', (scope) => resetBudgetWindows(scope, undefined)),
      seconds: RESETS_SECONDS,
      maxSeconds: MAX_SECONDS.reset,
    },
    {
      ...asTask('owner-windows', (scope) => resetOwnerWindows(scope, undefined)),
      seconds: RESETS_SECONDS,
      maxSeconds: MAX_SECONDS.reset,
    },
    {
      ...asTask('batch-polling', (scope) => followBatches(scope, undefined)),
      seconds: settings.batchPollingSeconds,
      maxSeconds: MAX_SECONDS.upstream,
    },
  ];
}

/** Rows that are removed when they are older than `days`; 0 keeps them. */
interface Retention {
  readonly name: string;
  /** Name of the rows, for the log. */
  readonly what: string;
  /** A function where the setting may change at run time. */
  readonly days: number | (() => number);
  readonly remove: (beforeMs: number, limit: number) => Promise<number>;
  readonly stepSize?: number;
}

const retentionsOf = (context: Pick<StartContext, 'settings' | 'log'>, platform: Platform): readonly PlannedDuty[] =>
  expiringRows(context, platform).map(({ name, ...task }) => ({
    name,
    seconds: task.days === 0 ? 0 : RETENTION_SECONDS,
    maxSeconds: MAX_SECONDS.retention,
    firstClaimMs: FIRST_ROUND_MS,
    work: async (signal) => {
      const days = typeof task.days === 'number' ? task.days : task.days();
      if (days > 0) await removeOld({ ...task, days, clock: systemClock, log: context.log, signal });
    },
  }));

function expiringRows({ settings }: Pick<StartContext, 'settings'>, platform: Platform): readonly Retention[] {
  // A step is never cancelled: it is small, and the shutdown waits for it.
  const scope = systemScope(platform, 'retention', new AbortController().signal);
  const traceSteps = settings.clickHouse === null ? {} : { stepSize: CLICKHOUSE_STEP };
  return [
    {
      name: 'trace-retention',
      what: 'traces',
      days: settings.retentionDays,
      remove: (beforeMs: number, limit: number) => removeExpiredTraces(scope, { beforeMs, limit }),
      ...traceSteps,
    },
    {
      name: 'response-retention',
      what: 'responses',
      days: settings.responseRetentionDays,
      remove: (beforeMs: number, limit: number) => removeExpiredResponses(scope, { beforeMs, limit }),
    },
    {
      name: 'decision-retention',
      what: 'decisions',
      days: settings.decisionRetentionDays,
      remove: (beforeMs: number, limit: number) => removeExpiredDecisions(scope, { beforeMs, limit }),
    },
    {
      name: 'audit-retention',
      what: 'audit log',
      days: settings.auditRetentionDays,
      remove: (beforeMs: number, limit: number) => removeExpiredAuditEntries(scope, { beforeMs, limit }),
    },
    {
      name: 'health-check-retention',
      what: 'health checks',
      days: () => retentionMs(platform.configuration, 'maximum_health_check_retention_period') / MS_PER_DAY,
      remove: (beforeMs: number, limit: number) => removeExpiredHealthChecks(scope, { beforeMs, limit }),
    },
    {
      name: 'spend-retention',
      what: 'spend rows',
      days: () => retentionMs(platform.configuration, 'maximum_spend_logs_retention_period') / MS_PER_DAY,
      remove: (beforeMs: number, limit: number) => removeExpiredSpend(scope, { beforeMs, limit }),
      stepSize: SPEND_STEP,
    },
    {
      name: 'lens-retention',
      what: 'reviews of lenses',
      days: LENS_WORK_DAYS,
      remove: (beforeMs: number, limit: number) => removeExpiredLensWork(scope, { beforeMs, limit }),
    },
  ];
}
