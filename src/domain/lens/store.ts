import type { RowStore } from '../row-store.ts';
import type { Usd } from '../money.ts';
import type { Finding, FindingKind, FindingStatus, Priority } from './finding.ts';
import type { Lens, LensRun, LensState, RunHead } from './lens.ts';
import type { Review } from './review.ts';
import type { LensWorker } from './worker.ts';

/** A paid answer of a model, which a restarted run uses again. */
export interface PaidAnswer {
  /** Hash of the run and the whole request. */
  readonly id: string;
  readonly runId: string;
  readonly content: string;
  readonly finishReason: string;
}

/** A cached review. */
interface CachedReview {
  readonly lensId: string;
  readonly criteriaKey: string;
  /** Contains its extraction. */
  readonly review: Review;
}

/** Filter of findings; null matches all. */
export interface FindingFilter {
  readonly lensId: string | null;
  readonly status: FindingStatus | null;
  readonly kind: FindingKind | null;
  readonly priority: Priority | null;
}

/** Query of one page of findings. */
export interface FindingPage {
  readonly filter: FindingFilter;
  /** Order by `lastSeen`. */
  readonly descending: boolean;
  readonly limit: number;
  /** The finding after which the page begins; null for the first page. */
  readonly after: Pick<Finding, 'id' | 'lastSeen'> | null;
}

/** A finding and the lens that found it. */
export interface LensFinding {
  readonly lensId: string;
  readonly finding: Finding;
}

/** Place of a run in the list of its lens. */
export type RunPlace = Pick<LensRun, 'createdAt' | 'id'>;

/** Persistent lenses, runs, findings, paid answers and cached reviews. */
export interface LensStore {
  add(state: LensState): Promise<void>;
  find(id: string): Promise<LensState | null>;
  /** All lenses, by id. */
  all(): Promise<readonly LensState[]>;
  /**
   * Changes a lens with its latest run and its findings in one transaction. Changes of one lens are serialized across
   * all processes. A run with another id becomes the latest run; the row of the former run is unchanged. Null when no
   * such lens exists. Throws what `change` throws.
   */
  change(id: string, change: (state: LensState) => LensState): Promise<LensState | null>;
  /** As `change`, for the lens alone: its run and findings are not read. */
  changeLens(id: string, change: (lens: Lens) => Lens): Promise<Lens | null>;
  /**
   * Changes a run in one transaction, without reading its sample, the lens and the findings. `change` must not change
   * the status. Null when no such run exists.
   */
  changeRun(lensId: string, runId: string, change: (run: RunHead) => RunHead): Promise<RunHead | null>;
  /** Changes a lens after a model call, adds the cost to the run and stores the answer, if any, in one transaction. */
  recordCall(
    id: string,
    change: (lens: Lens) => Lens,
    call: { readonly runId: string; readonly cost: Usd; readonly answer: PaidAnswer | null },
  ): Promise<void>;
  findAnswer(id: string): Promise<PaidAnswer | null>;
  /** Ids of at most `most` lenses whose schedule is due, the longest due first. */
  due(now: Date, most: number): Promise<readonly string[]>;
  /** Runs of a lens, newest first. `from`: rows to skip, or the run after which the page begins. */
  runs(lensId: string, from: number | RunPlace, limit: number): Promise<readonly LensRun[]>;
  countRuns(lensId: string): Promise<number>;
  findRun(lensId: string, runId: string): Promise<LensRun | null>;
  /** The ids among these that belong to runs. */
  runIdsAmong(ids: readonly string[]): Promise<ReadonlySet<string>>;
  findings(page: FindingPage): Promise<readonly LensFinding[]>;
  /** Number of the findings that match. */
  countFindings(filter: FindingFilter): Promise<number>;
  findFinding(id: string): Promise<LensFinding | null>;
  /** Adds or replaces cached reviews, by lens, criteria and execution. */
  keepReviews(reviews: readonly CachedReview[]): Promise<void>;
  reviews(lensId: string, criteriaKey: string, executionIds: readonly string[]): Promise<readonly Review[]>;
  /**
   * Removes at most `most` answers and at most `most` reviews that are older than an instant; resolves to their total
   * number.
   */
  removeBefore(before: Date, most: number): Promise<number>;
}

export type LensWorkerStore = RowStore<LensWorker, { readonly tokenHash: string | null }>;
