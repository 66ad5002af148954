/** Latency of a call, and the time since its measurement, in ms. */
export interface AgedSample {
  readonly ageMs: number;
  readonly latencyMs: number;
}

/** Use and latency of a deployment. */
export interface DeploymentCounts {
  readonly id: string;
  /** Requests and tokens of the minute. In a report, all of the process, so that a repeated report counts once. */
  readonly requests: number;
  readonly tokens: number;
  /** Oldest first. */
  readonly latencies: readonly AgedSample[];
  /** Times to the first byte of streams, oldest first. */
  readonly firstTokens: readonly AgedSample[];
}

/** Cooldown of a deployment, with its remaining time in ms. */
export interface RemainingCooldown {
  readonly id: string;
  readonly remainingMs: number;
}

/** The counts of a process that have changed since its last exchange. */
export interface CountsReport {
  /** Current UTC minute, in minutes since 1970; null where no strategy of the process needs counts. */
  readonly minute: number | null;
  readonly deployments: readonly DeploymentCounts[];
  /** Cooldowns that the process has started. */
  readonly cooldowns: readonly RemainingCooldown[];
}

/** What all processes have counted. */
export interface CountsOfAll {
  /** Use of all processes in the minute of the report, and latest latencies of the other processes. */
  readonly deployments: readonly DeploymentCounts[];
  /** Cooldowns of all processes. */
  readonly cooldowns: readonly RemainingCooldown[];
}

/** Counts of deployments that several processes share. */
export interface CountsLedger {
  /** Adds the report of a process. Rejects when the ledger does not answer; the report may have been added. */
  exchange(process: string, report: CountsReport): Promise<CountsOfAll>;
}

/** The counts of a process, as it shares them with others. */
export interface LocalCounts {
  /** The counts that have changed since the last accepted report. Counts that are not accepted are reported again. */
  report(): CountsReport;
  /** Takes over the answer to a report. */
  accept(report: CountsReport, all: CountsOfAll): void;
}

/** Maximum number of samples of a deployment in a report and in a ledger, of each kind. */
export const MAX_SHARED_SAMPLES = 20;
/** Maximum number of deployments in a report. The others follow in the next one. */
export const MAX_REPORTED = 500;
