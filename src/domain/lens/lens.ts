import type { Usd } from '../money.ts';
import type { Sample } from './execution.ts';
import type { Finding } from './finding.ts';
import type { Assessment, Review } from './review.ts';
import type { LensSettings } from './settings.ts';

/** Maximum number of runs of one page. */
export const RUN_PAGE_SIZE = 50;

type RunStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';

/** Progress counts of a new run, all zero. */
export const NO_COVERAGE = {
  eligible: 0,
  selected: 0,
  screened: 0,
  investigated: 0,
  inconclusive: 0,
  groupingBatches: 0,
  groupedBatches: 0,
  candidates: 0,
  partial: 0,
  unassessable: 0,
  failedTasks: 0,
  reused: 0,
  reusable: 0,
};
export type Coverage = Readonly<typeof NO_COVERAGE>;

/** Purposes of the model calls of a run. */
export const PURPOSES = ['extract', 'cluster', 'investigate'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** One entry of the log of a run. */
export interface RunStep {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly kind: 'stage' | 'model' | 'error';
  readonly label: string;
  readonly model: string;
  readonly purpose: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** USD. */
  readonly cost: number;
}

export const PHASES = ['load', 'review', 'group', 'reconcile', 'investigate'] as const;

/** A task of a run, in progress or finished. */
export interface Activity {
  readonly id: string;
  readonly phase: (typeof PHASES)[number];
  readonly label: string;
  readonly executionIds: readonly string[];
  readonly startedAt: string;
  readonly operations: number;
  readonly toolCalls: number;
  readonly finished: boolean;
}

/** An execution that is being read. */
export interface Reading {
  readonly executionId: string;
  readonly traceId: string;
  readonly agent: string;
  readonly startedAt: string;
}

/** One run of a lens; `job` in the reference service. Times are ISO 8601, UTC. */
export interface LensRun {
  readonly id: string;
  readonly lensId: string;
  readonly status: RunStatus;
  readonly stage: string;
  readonly createdAt: string;
  /** Window of the executions. */
  readonly start: string;
  readonly end: string;
  /** Copy of the settings, taken when it was queued. */
  readonly settings: LensSettings;
  readonly revision: number;
  readonly trigger: 'schedule' | 'manual';
  /** Number of its claims; the fencing token of its worker. */
  readonly attempts: number;
  readonly workerId: string | null;
  readonly leaseUntil: string | null;
  readonly finishedAt: string | null;
  readonly coverage: Coverage;
  readonly error: string;
  /** Null until the executions are chosen. */
  readonly sample: Sample | null;
  readonly cost: Usd;
  /** Findings that it added or changed; null until a worker has sent the result. */
  readonly findings: readonly Finding[] | null;
  readonly assessments: readonly Assessment[];
  readonly steps: readonly RunStep[];
  /** The latest reviews. */
  readonly reviews: readonly Review[];
  /** Number of all reviews so far. */
  readonly reviewed: number;
  readonly reading: readonly Reading[];
  readonly activities: readonly Activity[];
  readonly reviewVersions: readonly { readonly executionId: string; readonly contentVersion: string }[];
}

/** A run without its executions, of which there may be thousands. */
export type RunHead = Omit<LensRun, 'sample'>;

/** Part of the budget that a running model call reserves. */
export interface BudgetReservation {
  readonly id: string;
  /** Id of the run. */
  readonly jobId: string;
  readonly amount: Usd;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly expiresAt: string;
}

/** Traces that a lens may see: all of them, because administrators own lenses. */
interface LensScope {
  readonly teamId: string;
  readonly apiKeyHash: string;
  readonly allTeams: boolean;
}

/** A saved investigation. Times are ISO 8601, UTC. */
export interface Lens {
  readonly id: string;
  readonly scope: LensScope;
  readonly settings: LensSettings;
  /** Counter of changes of the settings, from 1. */
  readonly revision: number;
  /** Counter of changes, from 0. Changes of the budget and the progress of a run do not count. */
  readonly version: number;
  readonly createdAt: string;
  readonly nextRunAt: string;
  readonly lastScanAt: string | null;
  readonly budgetMonth: string;
  readonly spent: Usd;
  readonly reservations: readonly BudgetReservation[];
  readonly criteriaUpdatedAt: string | null;
}

/** A lens with its latest run and its findings, newest first. */
export interface LensState {
  readonly lens: Lens;
  readonly run: LensRun;
  readonly findings: readonly Finding[];
}

export const isActive = ({ status }: Pick<LensRun, 'status'>): boolean => status === 'queued' || status === 'running';

/** The id of a run as the trace id of its model calls. */
export const traceIdOfRun = (runId: string): string => runId.replaceAll('-', '');

/** Offsets of the groups of a UUID in its text without hyphens. */
const UUID_GROUPS = [0, 8, 12, 16, 20] as const;

/** The inverse of `traceIdOfRun`. For the trace id of another call, the result is not the id of a run. */
export const runIdOfTrace = (traceId: string): string =>
  UUID_GROUPS.map((start, group) => traceId.slice(start, UUID_GROUPS[group + 1] ?? 32)).join('-');
