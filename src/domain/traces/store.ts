import type { Visibility } from '../caller.ts';
import type { Span, SpanBatch, SpanHead } from './span.ts';
import type { TraceSummary, TraceWindow } from './trace.ts';

/** What names one owner's trace. The ref alone would; the id is what stored traces are sorted by. */
export type TraceKey = Pick<TraceSummary, 'traceId' | 'traceRef'>;

/**
 * Where spans are kept. Rows are owned by the credential that sent them; one trace id sent by two owners
 * is two traces. Everything outside a visibility is as if it did not exist.
 */
export interface TraceStore {
  /**
   * Stores the batches in one commit, all or nothing, and resolves once they would survive a killed
   * process. A span already stored (same owner, trace id and span id) is left as it is, so a resend is
   * harmless. Calls waiting at the same moment share a commit. Resolves to the summaries that changed.
   * Throws Unavailable when too much is already waiting.
   */
  ingest(batches: readonly SpanBatch[]): Promise<readonly TraceSummary[]>;
  /** At most `limit` summaries inside the window, newest first by (start ms, trace ref). */
  listSummaries(visibility: Visibility, window: TraceWindow, limit: number): Promise<readonly TraceSummary[]>;
  /** Every visible summary with this trace id, or just the one with this ref. Empty when there is none. */
  findSummaries(visibility: Visibility, traceId: string, traceRef: string | null): Promise<readonly TraceSummary[]>;
  /** The spans of these traces without payload, by ref; by start then span id. Callers pass traces they may see. */
  listSpans(traces: readonly TraceKey[]): Promise<ReadonlyMap<string, readonly SpanHead[]>>;
  /** One span with its payload, or null. `traces` as for `listSpans`. */
  findSpan(traces: readonly TraceKey[], spanId: string): Promise<Span | null>;
}
