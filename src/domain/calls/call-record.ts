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
  readonly childSpans?: readonly Span[];
}

/** Owner of a call's trace. Calls of earlier versions may have a blank team, which means no team. */
export const ownerOfCall = ({ teamId, keyHash }: Pick<SpendRow, 'teamId' | 'keyHash'>): Owner => ({
  teamId: nullIfBlank(teamId),
  keyHash,
});

/**
 * A queued record, encoded once when the call ends. Each store extends this type with the encoded call. It keeps most
 * of the call outside of the heap, because the garbage collector would move every heap object that waits.
 */
export interface QueuedCall {
  readonly callId: string;
  readonly traceId: string;
}

/**
 * Store of the gateway's calls, spend row and span together. Calls are committed to a log and unfolded into rows later.
 * Calls that the log cannot represent are stored as rows immediately. Reads of spend and traces include every committed
 * call.
 */
export interface CallStore<Queued extends QueuedCall = QueuedCall> {
  /**
   * Encodes a call for the queue. `withSummary` keeps the summary of the call's trace in memory until the commit, for
   * subscribers. Throws InvalidInput for a value that the store cannot represent.
   */
  encode(call: CallRecord, withSummary?: boolean): Queued;
  /**
   * Commits the calls. Resolves to a function that reads the summaries of the calls' traces; for calls that were
   * encoded without a summary, that function unfolds them first.
   *
   * When `append` rejects, some of the calls are possibly stored. The caller then repeats it with the same calls, and
   * stored calls stay unchanged.
   */
  append(calls: readonly Queued[]): Promise<() => Promise<readonly TraceSummary[]>>;
  /** Number of calls committed and not unfolded, as far as this process knows. */
  backlog(): number;
  /**
   * Unfolds some calls, oldest first, in a step of milliseconds. Resolves to the summaries of the traces of these calls
   * to which clients had already sent spans. Throws Unavailable.
   */
  unfold(): Promise<readonly TraceSummary[]>;
}
