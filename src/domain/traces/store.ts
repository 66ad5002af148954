import type { Owner, Visibility } from '../caller.ts';
import type { PackedExport } from './packed.ts';
import type { Span, SpanBatch, SpanHead } from './span.ts';
import type { SpanPosition } from './span-cursor.ts';
import type { TraceSummary, TraceWindow } from './trace.ts';
import type { AgentActivity, AgentSearch, TraceBucket, TraceSearch, TraceSeries } from './trace-search.ts';

/** What names one owner's trace. The ref alone would; the id is what stored traces are sorted by. */
export type TraceKey = Pick<TraceSummary, 'traceId' | 'traceRef'>;

/**
 * Where spans are kept. Rows are owned by the credential that sent them; one trace id sent by two owners
 * is two traces. Everything outside a visibility is as if it did not exist.
 *
 * The payloads of an export stay in its body, which is kept once and shared by the traces in it. A body lives as
 * long as one span points into it: it goes with the last of its traces, and of a trace that goes before the others
 * nothing is left in it.
 */
export interface TraceStore {
  /**
   * Stores the batches in one commit, all or nothing, and resolves once they would survive a killed
   * process. A span already stored (same owner, trace id and span id) is left as it is, so a resend is
   * harmless. Calls waiting at the same moment share a commit. Resolves to the summaries that changed.
   * Throws Unavailable when too much is already waiting.
   */
  ingest(batches: readonly SpanBatch[]): Promise<readonly TraceSummary[]>;
  /**
   * Stores an export that `owner` sent, as `ingest` does. The body of one that brings nothing new is not kept. Of one that
   * is still being read a promise is taken: commits know of it and may wait for it a moment.
   */
  ingestExport(owner: Owner, packed: PackedExport | Promise<PackedExport>): Promise<readonly TraceSummary[]>;
  /** At most `limit` summaries inside the window, newest first by (start ms, trace ref). */
  listSummaries(visibility: Visibility, window: TraceWindow, limit: number): Promise<readonly TraceSummary[]>;
  /** At most `limit` summaries that a search finds, the greatest rank first, then the greatest trace ref. */
  searchSummaries(visibility: Visibility, search: TraceSearch, limit: number): Promise<readonly TraceSummary[]>;
  /** What the visible traces that pass the filters come to, by stretches of time; those without traces are left out. */
  series(visibility: Visibility, series: TraceSeries): Promise<readonly TraceBucket[]>;
  /** At most `limit` of the agents that the visible traces name, the latest first, then by name. */
  agents(visibility: Visibility, search: AgentSearch, limit: number): Promise<readonly AgentActivity[]>;
  /** Every visible summary with this trace id, or just the one with this ref. Empty when there is none. */
  findSummaries(visibility: Visibility, traceId: string, traceRef: string | null): Promise<readonly TraceSummary[]>;
  /** The spans of these traces without payload, by ref; by start then span id. Callers pass traces they may see. */
  listSpans(traces: readonly TraceKey[]): Promise<ReadonlyMap<string, readonly SpanHead[]>>;
  /**
   * At most `limit` spans of a trace that stand behind a position, or from its start: by start then span id, without
   * payload. `trace` as for `listSpans`.
   */
  listSpanPage(trace: TraceKey, after: SpanPosition | null, limit: number): Promise<readonly SpanHead[]>;
  /** One span with its payload, or null. `traces` as for `listSpans`. */
  findSpan(traces: readonly TraceKey[], spanId: string): Promise<Span | null>;
  /**
   * Removes the oldest of the traces that began before `beforeMs`, Unix milliseconds, at most so many; resolves to how
   * many. A small step: others are served in between. Nothing is left of what is removed, not even inside of a body.
   */
  forget(beforeMs: number, most: number): Promise<number>;
  /** Removes these traces at once, likewise; resolves to how many there were. Callers pass traces they may remove. */
  remove(traces: readonly TraceKey[]): Promise<number>;
  /**
   * Takes out of these traces all that was said in them: inputs, outputs, attributes, events, links, previews, error
   * texts, where they were asked for. Names, times, counts and costs stay. Spans that come later are kept as they come.
   * Resolves to the summaries as they are then.
   */
  redact(traces: readonly TraceKey[], at: Date): Promise<readonly TraceSummary[]>;
}
