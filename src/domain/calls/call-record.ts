import type { SpendRow } from '../spend/spend-row.ts';
import type { Span } from '../traces/span.ts';
import type { TraceSummary } from '../traces/trace.ts';

/** What the gateway leaves behind of one call. */
export interface CallRecord {
  readonly spend: SpendRow;
  readonly span: Span;
}

/**
 * A record in the form it waits in, made once when the call ends: mostly bytes, because thousands of them wait for
 * their commit, and the collector walks and moves every object that waits.
 */
export interface KeptCall {
  readonly callId: string;
  readonly traceId: string;
}

/**
 * Where the gateway's own records go: what a call cost and its span, together. They are committed as they come and
 * unfolded into what is read later; whoever reads spend or traces sees everything that was committed before.
 */
export interface CallStore<Kept extends KeptCall = KeptCall> {
  /** Throws InvalidInput for a value that no store holds. */
  keep(call: CallRecord): Kept;
  /**
   * Commits them or fails; what is stored already is left as it is. Gives a function that tells the summaries of their
   * traces as they stand then: most of the time nobody wants to know.
   */
  append(calls: readonly Kept[]): Promise<() => Promise<readonly TraceSummary[]>>;
  /** How many calls are committed and not unfolded, as far as this process knows. */
  backlog(): number;
  /** Unfolds some of them, the oldest first: a step of milliseconds. Throws Unavailable. */
  unfold(): Promise<void>;
}
