import type { SpendRow } from '../spend/spend-row.ts';
import type { Span } from '../traces/span.ts';
import type { TraceSummary } from '../traces/trace.ts';

/** What the gateway leaves behind of one call. */
export interface CallRecord {
  readonly spend: SpendRow;
  readonly span: Span;
}

/**
 * A record in the form it is stored in, made once when the call ends: mostly text, because thousands of them wait for
 * their commit, and the collector walks and moves every object that waits.
 */
export interface KeptCall {
  readonly callId: string;
  readonly traceId: string;
}

/** Where the gateway's own records go: what a call cost and its span, together. */
export interface CallStore<Kept extends KeptCall = KeptCall> {
  /** Throws InvalidInput for a value that no store holds. */
  keep(call: CallRecord): Kept;
  /**
   * Stores them or fails; what is stored already is left as it is. Gives a function that tells the summaries of the
   * traces that changed: most of the time nobody wants to know.
   */
  append(calls: readonly Kept[]): Promise<() => readonly TraceSummary[]>;
}
