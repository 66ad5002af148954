import type { Usd } from '../money.ts';
import type { TraceFilters } from './trace-search.ts';

/** Aggregates of the traces of a window that state the same session. */
export interface SessionActivity {
  readonly sessionId: string;
  /** The user that its traces state; null when they state none or several. */
  readonly userId: string | null;
  readonly traces: number;
  /** Traces with a failed span, included in `traces`. */
  readonly failed: number;
  readonly llmCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null when no call is priced. */
  readonly spend: Usd | null;
  /** Part of the spend that is estimated; null when nothing is. */
  readonly estimate: Usd | null;
  /** Earliest start and latest end of its traces, Unix nanoseconds. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Start of its latest trace, Unix ms. Lists are sorted by it. */
  readonly lastStartMs: number;
}

/** Query of one page of sessions: the latest first, then by id in descending byte order. */
export interface SessionSearch {
  /** Unix milliseconds, inclusive. */
  readonly startMs: number;
  /** Unix milliseconds, exclusive. */
  readonly endMs: number;
  readonly filters: TraceFilters;
  /** Continue strictly below this row; null for the first page. */
  readonly after: Pick<SessionActivity, 'lastStartMs' | 'sessionId'> | null;
}

/** Maximum page size. */
export const MAX_SESSIONS = 100;
