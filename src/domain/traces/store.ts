import type { Owner, Visibility } from '../caller.ts';
import type { PackedExport } from './packed.ts';
import type { Span, SpanBatch, SpanHead } from './span.ts';
import type { SpanPosition } from './span-cursor.ts';
import type { SessionActivity, SessionSearch } from './sessions.ts';
import type { TraceSummary, TraceWindow } from './trace.ts';
import type { AgentActivity, AgentSearch, TraceBucket, TraceSearch, TraceSeries } from './trace-search.ts';

/** Identifies a trace of one owner. The ref is unique; stored traces are sorted by the id. */
export type TraceKey = Pick<TraceSummary, 'traceId' | 'traceRef'>;

/** Address of a trace. */
export interface TraceAddress {
  readonly traceId: string;
  /** Ref of one owner's trace; null or empty for every visible trace with the id. */
  readonly traceRef: string | null;
}

/**
 * Trace store. Spans belong to the credential that sent them; one trace id from two owners is two traces. Reads do not
 * find traces outside their visibility.
 *
 * The payloads of an export stay in its body, which is stored once for all of its traces. A body is deleted with its
 * last trace; a trace that is removed earlier is also removed from the body.
 */
export interface TraceStore {
  /**
   * Stores the batches in one atomic commit; resolves once they survive a killed process. Idempotent: a span that is
   * stored already (same owner, trace id and span id) is unchanged. Concurrent calls share a commit. Resolves to the
   * summaries that changed. Throws Unavailable when the queue is full.
   */
  ingest(batches: readonly SpanBatch[]): Promise<readonly TraceSummary[]>;
  /**
   * Stores an export of `owner`, as `ingest` does. The body of an export without new spans is dropped. An export that
   * is still being read is passed as a promise: a commit may wait for it for some milliseconds.
   */
  ingestExport(owner: Owner, packed: PackedExport | Promise<PackedExport>): Promise<readonly TraceSummary[]>;
  /** At most `limit` summaries inside the window, newest first by (start ms, trace ref). */
  listSummaries(visibility: Visibility, window: TraceWindow, limit: number): Promise<readonly TraceSummary[]>;
  /** At most `limit` summaries of a search, by descending rank, then trace ref. */
  searchSummaries(visibility: Visibility, search: TraceSearch, limit: number): Promise<readonly TraceSummary[]>;
  /** Aggregates of the visible traces that pass the filters, per time bucket. Empty buckets are left out. */
  series(visibility: Visibility, series: TraceSeries): Promise<readonly TraceBucket[]>;
  /** At most `limit` agents of the visible traces, the latest first, then by name. */
  agents(visibility: Visibility, search: AgentSearch, limit: number): Promise<readonly AgentActivity[]>;
  /** At most `limit` sessions of the visible traces that pass the filters: the latest first, then by id, descending. */
  sessions(visibility: Visibility, search: SessionSearch, limit: number): Promise<readonly SessionActivity[]>;
  /** Number of sessions of a search, on all pages. */
  countSessions(visibility: Visibility, search: SessionSearch): Promise<number>;
  /** The visible summaries with this trace id, or the one with this ref. */
  findSummaries(visibility: Visibility, traceId: string, traceRef: string | null): Promise<readonly TraceSummary[]>;
  /**
   * Spans of these traces by trace ref, without payload, sorted by start, then span id. Callers pass traces they may
   * see.
   */
  listSpans(traces: readonly TraceKey[]): Promise<ReadonlyMap<string, readonly SpanHead[]>>;
  /**
   * At most `limit` spans of a trace after a position, or from its start: by start, then span id, without payload.
   * Callers pass a trace they may see.
   */
  listSpanPage(trace: TraceKey, after: SpanPosition | null, limit: number): Promise<readonly SpanHead[]>;
  /** The span of one of these traces with its payload, or null. Callers pass traces they may see. */
  findSpan(traces: readonly TraceKey[], spanId: string): Promise<Span | null>;
  /** The existing spans with these ids, with payload, in the order of the ids. Callers pass a trace they may see. */
  findSpans(trace: TraceKey, spanIds: readonly string[]): Promise<readonly Span[]>;
  /**
   * Retention: removes at most `most` of the oldest traces that began before `beforeMs`, Unix ms, also from bodies.
   * Resolves to the number of removed traces.
   */
  removeStartedBefore(beforeMs: number, most: number): Promise<number>;
  /** Removes these traces, also from bodies; resolves to their number. Callers pass traces they may remove. */
  remove(traces: readonly TraceKey[]): Promise<number>;
  /**
   * Redacts these traces: deletes inputs, outputs, attributes, events, links, previews, error texts and sources. Names,
   * times, counts and costs stay. Later spans are not redacted. Resolves to the new summaries.
   */
  redact(traces: readonly TraceKey[], at: Date): Promise<readonly TraceSummary[]>;
}
