import type { Owner } from '../caller.ts';
import { nullIfBlank } from '../optional-text.ts';
import type { SpendRow } from '../spend/spend-row.ts';
import type { Span } from '../traces/span.ts';
import type { TraceSummary } from '../traces/trace.ts';

/** The record of one gateway call. */
export interface CallRecord {
  readonly spend: SpendRow;
  readonly span: Span;
  /** Child spans of `span`, for the guardrails of the call; absent for none. */
  readonly below?: readonly Span[];
}

/** Owner of a call's trace. Old calls may have a blank team, which means none. */
export const ownerOfCall = ({ teamId, keyHash }: Pick<SpendRow, 'teamId' | 'keyHash'>): Owner => ({
  teamId: nullIfBlank(teamId),
  keyHash,
});

/**
 * A queued record, encoded once when the call ends. Stores add the encoded call, mostly as bytes outside of the heap,
 * because the garbage collector moves every heap object that waits.
 */
export interface QueuedCall {
  readonly callId: string;
  readonly traceId: string;
}

/**
 * Store of the gateway's calls, spend row and span together. Calls are committed to a log and unfolded into rows later;
 * calls that the log cannot represent are stored as rows immediately.
 * Reads of spend and traces include every call committed before.
 */
export interface CallStore<Queued extends QueuedCall = QueuedCall> {
  /**
   * Encodes a call for the queue. Throws InvalidInput for a value that the store cannot represent. `withSummary`: keeps
   * the summary of its trace in memory until the commit, for subscribers.
   */
  encode(call: CallRecord, withSummary?: boolean): Queued;
  /**
   * Commits the calls. When it rejects, some of the calls may be stored. The caller then repeats `append` with the same
   * calls, and stored calls stay unchanged. Resolves to a function that reads the summaries of the calls' traces. That
   * function unfolds the calls that were encoded without a summary.
   */
  append(calls: readonly Queued[]): Promise<() => Promise<readonly TraceSummary[]>>;
  /** Number of calls committed and not unfolded, as far as this process knows. */
  backlog(): number;
  /**
   * Unfolds some calls, oldest first, in a step of milliseconds. Resolves to the summaries of traces into which clients
   * had written meanwhile. Throws Unavailable.
   */
  unfold(): Promise<readonly TraceSummary[]>;
}
