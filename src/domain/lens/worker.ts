import { Conflict, Unauthenticated, Unavailable } from '../errors.ts';
import type { Stamps } from '../row-store.ts';
import { VERSION } from '../version.ts';
import type { ContentPage } from './content.ts';
import type { Sample } from './execution.ts';
import type { Finding, FindingDraft } from './finding.ts';
import type { Activity, Coverage, LensRun, Purpose, Reading } from './lens.ts';
import type { Assessment, Review } from './review.ts';

/** A process that reviews executions. */
export interface LensWorker extends Stamps {
  readonly id: string;
  readonly name: string;
  /** SHA-256 hex of its token; null for the worker of this process. */
  readonly tokenHash: string | null;
  /** Hash of the virtual key that pays for its model calls; null before one is assigned. */
  readonly analysisKeyId: string | null;
  readonly lastSeen: Date;
  readonly revoked: boolean;
}

/** Version of the protocol between server and worker. */
export const WORKER_PROTOCOL = 7;
/** Kind of the jobs of runs. */
export const RUN_JOB = 'lens-run';
/** Lease of a claim, and the interval at which a worker extends it, in ms. */
export const LEASE_MS = 300_000;
export const HEARTBEAT_MS = 30_000;
/** Maximum number of attempts of a run. */
export const MAX_ATTEMPTS = 3;
/** Id of the worker of this process. */
export const BUILT_IN_WORKER = 'built-in';

/** Proof of one claim of a run. */
export interface RunClaim {
  readonly lensId: string;
  readonly runId: string;
  readonly attempt: number;
}

/**
 * Cache of claimed runs whose sample is chosen. Workers read only members that no longer change, so a cached run stays
 * valid.
 */
export interface ClaimedRuns {
  find(claim: RunClaim): LensRun | null;
  put(claim: RunClaim, run: LensRun): void;
  drop(claim: RunClaim): void;
}

/** A run that a worker has claimed, and the earlier findings of its lens. */
export interface ClaimedRun {
  readonly lensId: string;
  readonly run: LensRun;
  readonly findings: readonly Finding[];
}

/** A model call of a run. A prompt that is a JSON object is split into instructions and data. */
export interface AnalysisCall {
  readonly prompt: string;
  readonly purpose: Purpose;
  /** Conversation to send instead of the prompt; null sends the prompt. */
  readonly messages: readonly AnalysisMessage[] | null;
}

export interface AnalysisMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface AnalysisAnswer {
  readonly content: string;
  /** USD; 0 for a stored answer that was paid before. */
  readonly cost: number;
  /** Whether the prompt is longer than every deployment of the model accepts. The content is then empty. */
  readonly contextExceeded: boolean;
  /** `stop`, `length`, `content_filter` or another reason of the provider. */
  readonly finishReason: string;
}

/** Progress report of a worker. Absent members are not changed. */
export interface RunProgress {
  readonly stage?: string;
  readonly coverage?: Coverage;
  /** Reviews that are complete, with their extractions. */
  readonly reviews?: readonly Review[];
  readonly reading?: readonly Reading[];
  /** All activities. They replace those of the run. */
  readonly activities?: readonly Activity[];
  /** One activity. It replaces the one with its id; a finished one is removed. */
  readonly activity?: Activity;
}

export interface RunResult {
  readonly assessments: readonly Assessment[];
  readonly findings: readonly FindingDraft[];
  readonly coverage: Coverage;
  /** Empty without a failure. */
  readonly error: string;
  readonly reviewVersions: readonly { readonly executionId: string; readonly contentVersion: string }[];
}

/**
 * Operations of a server that a worker uses: in this process, or over HTTP. `sample`, `progress`, `heartbeat` and
 * `result` extend the lease of the claim. Each operation throws OwnershipLost when the claim no longer holds, and
 * ServerUnreachable when the server does not answer within the lease. The worker must then stop the run.
 */
export interface LensBackend {
  /** Null when no run is due. */
  claim(signal: AbortSignal): Promise<ClaimedRun | null>;
  /** Chooses the executions, once for a run. */
  sample(claim: RunClaim, signal: AbortSignal): Promise<Sample>;
  /**
   * Cached reviews by the same criteria, of sampled executions whose traces and feedback have not changed since the
   * review.
   */
  reviews(claim: RunClaim, signal: AbortSignal): Promise<readonly Review[]>;
  content(claim: RunClaim, executionId: string, cursor: string | null, signal: AbortSignal): Promise<ContentPage>;
  model(claim: RunClaim, call: AnalysisCall, signal: AbortSignal): Promise<AnalysisAnswer>;
  progress(claim: RunClaim, progress: RunProgress, signal: AbortSignal): Promise<void>;
  heartbeat(claim: RunClaim, signal: AbortSignal): Promise<void>;
  result(claim: RunClaim, result: RunResult, signal: AbortSignal): Promise<void>;
  /**
   * Returns a run to the queue: after a failure, or at a shutdown (null). Absent where the run returns when its lease
   * ends.
   */
  readonly release?: (claim: RunClaim, failure: string | null) => Promise<void>;
}

/** The worker's claim no longer holds. */
export class OwnershipLost extends Conflict {
  constructor(message = 'This worker no longer owns the job') {
    super(message);
    this.name = 'OwnershipLost';
  }
}

/** A worker did not reach its server until the lease of its run ended. The run must stop without a result. */
export class ServerUnreachable extends Unavailable {
  constructor(message: string) {
    super(message, null);
    this.name = 'ServerUnreachable';
  }
}

/** A worker without a valid token. */
export class UnknownWorker extends Unauthenticated {
  constructor(message = 'Worker credential is invalid or revoked') {
    super(message, 'unknown');
    this.name = 'UnknownWorker';
  }
}

/** A wait for the budget or for a model exceeded its deadline. */
export class AnalysisTimeout extends Unavailable {
  constructor(message: string) {
    super(message, null);
    this.name = 'AnalysisTimeout';
  }
}

/** Throws Conflict for a worker of another protocol version or release than this process. */
export function assertWorkerRelease(protocol: number, release: string | null): void {
  if (protocol !== WORKER_PROTOCOL || (release !== VERSION && release !== `v${VERSION}`))
    throw new Conflict(`Upgrade the Lens worker to lensgate:${VERSION} and retry`);
}
