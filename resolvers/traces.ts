import type { Delivery } from '../src/domain/bus.ts';
import { type Caller, mayRead, type Owner, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import { InvalidInput, NotFound, Unsupported } from '../src/domain/errors.ts';
import { type Page, pageOfRows } from '../src/domain/page.ts';
import type { PollableStream } from '../src/domain/pollable-stream.ts';
import { isRootless, namedByFirst } from '../src/domain/traces/assemble-trace.ts';
import { cursorAfter, readCursor } from '../src/domain/traces/cursor.ts';
import { callSearchOf, spendWithOtherTraces } from '../src/domain/traces/call-spend.ts';
import { type EstimatedCall, estimatedCalls, withEstimatedCalls } from '../src/domain/traces/estimate-export.ts';
import { publishChanges } from '../src/domain/traces/publish-changes.ts';
import type { PackedExport, SentExport } from '../src/domain/traces/packed.ts';
import type { TraceOutline } from '../src/domain/traces/outline.ts';
import { isAfterPosition, readSpanCursor, spanCursorAt } from '../src/domain/traces/span-cursor.ts';
import type { Span, SpanHead } from '../src/domain/traces/span.ts';
import {
  type Trace,
  type TraceChange,
  type TraceIdentity,
  type TraceSummary,
  type TraceWindow,
  TRACE_PAGE_SIZE,
} from '../src/domain/traces/trace.ts';
import {
  NO_TRACE_FILTERS,
  tracePassesFilters,
  type TraceFilters,
  windowOf,
} from '../src/domain/traces/trace-search.ts';
import { traceReader, traceWriter } from './operation/access.ts';
import { whileAllowed } from './operation/live-feed.ts';
import { callerOf, operation } from './operation/operation.ts';
import { isOfOwner } from './operation/trace-accounts.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';
import type { TraceAddress } from '../src/domain/traces/store.ts';
import {
  assembled,
  visibleSummaries,
  visibleTraces,
  type FoundTrace,
  traceOfSummaries,
} from './operation/visible-traces.ts';

/**
 * Maximum number of calls of an export that are looked up in the spend rows. Further calls are estimated without a
 * lookup.
 */
const MAX_SEARCHED_CALLS = 4_096;
/** Margin between the start of a call of the gateway and the time in the id of the trace that it begins, in ms. */
const ID_MARGIN_MS = 1_000;
const SPAN_ID = /^[0-9a-f]{16}$/;

export interface TraceListQuery {
  /** Unix milliseconds, inclusive; null for 24 hours before the end. */
  readonly startMs: number | null;
  /** Unix milliseconds, exclusive; null for now. */
  readonly endMs: number | null;
  /** `nextCursor` of the previous page, which contains its window; null for the first page. */
  readonly cursor: string | null;
  /** Summaries per page, 1 to 50. */
  readonly limit?: number;
}

/** A page of summaries, and the window that cursors of its rows contain. */
export interface TracePage extends Page<TraceSummary> {
  readonly hasMore: boolean;
  readonly window: Pick<TraceWindow, 'startMs' | 'endMs'>;
}

/** A trace after spans of it were stored. Subscribers share the object. */
export type TraceUpdate = Delivery<TraceChange>;

/**
 * Stores an export of spans. Rows belong to the key that sent them, never to an owner named in the payload. Throws
 * InvalidInput, TooLarge, and Unavailable when the queue is full.
 */
export const ingestTraces = operation({
  name: 'ingestTraces',
  access: traceWriter,
  async run(scope: Scope<TracePlatform>, sent: SentExport): Promise<readonly TraceSummary[]> {
    const { bus, stores } = scope.platform;
    const owner = ownerOf(callerOf(scope));
    return publishChanges(bus, await stores.traces.ingestExport(owner, readExport(scope, owner, sent)));
  },
});

/** An export with cost estimates of its calls. */
async function readExport(scope: Scope<TracePlatform>, owner: Owner, sent: SentExport): Promise<PackedExport> {
  const { exports, estimates } = scope.platform;
  const packed = await exports.pack(sent);
  const calls = estimatedCalls(packed, estimates.estimatorOf);
  const recorded = await recordedElsewhere(scope, owner, calls);
  return withEstimatedCalls(
    packed,
    calls.filter((call) => !recorded(call)),
  );
}

/**
 * Finds the calls that the gateway itself recorded in other traces; such calls get no estimate. Ended calls are
 * committed first, so that the order of the client's export and the gateway's record does not matter.
 */
async function recordedElsewhere(
  scope: Scope<TracePlatform>,
  owner: Owner,
  calls: readonly EstimatedCall[],
): Promise<(call: EstimatedCall) => boolean> {
  const searches = calls.flatMap((call) => callSearchOf(call) ?? []);
  if (searches.length === 0) return () => false;
  const newestMs = await scope.platform.records.newestStartMs();
  const sought = searches.filter(({ fromMs }) => fromMs - ID_MARGIN_MS <= newestMs).slice(0, MAX_SEARCHED_CALLS);
  if (sought.length === 0) return () => false;
  await scope.platform.records.readable();
  const rows = await scope.platform.stores.spend.findElsewhere(sought);
  const own = rows.filter((row) => isOfOwner(row, [{ owner }]));
  const responseIds = new Set(own.map(({ responseId }) => responseId));
  const callIds = new Set(own.map(({ callId }) => callId));
  // Clients export the id of the response as `requestId`.
  return ({ requestId, callId }) =>
    (requestId !== null && responseIds.has(requestId)) || (callId !== null && callIds.has(callId));
}

/** Summaries of the traces that began inside a window, newest first. */
export const listTraces = operation({
  name: 'listTraces',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, query: TraceListQuery): Promise<TracePage> {
    const { stores, clock } = scope.platform;
    const limit = query.limit ?? TRACE_PAGE_SIZE;
    checkedPageSize(limit, { max: TRACE_PAGE_SIZE });
    const window = listedWindow(query, clock.now().getTime());
    await scope.platform.records.readable();
    const rows = await stores.traces.listSummaries(visibilityOf(callerOf(scope)), window, limit + 1);
    const { items, hasMore } = pageOfRows(rows, limit);
    // By contract, every full page has a cursor, also the last page.
    const last = items.length === limit ? items.at(-1) : undefined;
    return { items, hasMore, nextCursor: last === undefined ? null : cursorAfter(window, last), window };
  },
});

function listedWindow({ startMs, endMs, cursor }: TraceListQuery, nowMs: number): TraceWindow {
  if (cursor !== null) {
    const window = readCursor(cursor);
    if ((startMs ?? window.startMs) !== window.startMs || (endMs ?? window.endMs) !== window.endMs)
      throw new InvalidInput('The cursor belongs to another window.');
    return window;
  }
  return { ...windowOf({ startMs, endMs }, nowMs), after: null };
}

/** A page of the spans of a trace. Without cursor and size, all spans. With a cursor and no size, at most 500 spans. */
export interface SpanPage {
  readonly cursor: string | null;
  readonly pageSize: number | null;
}

/** A trace with its accounts, and a page of its spans. */
export interface ReadTrace extends TraceOutline, Trace {
  /** Whether ended calls may be missing, because their records were not committed in time. */
  readonly spendPending: boolean;
  /** Cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
}

/** Number of spans of a page after a cursor, when the request names none. */
const DEFAULT_PAGE_SPANS = 500;

/**
 * One trace with its agents, a page of its spans and the cost of its calls. Throws NotFound, InvalidInput for an
 * invalid cursor, and Conflict for a cursor from before the trace changed. A page of a trace of one owner caches the
 * outline: agents and spend of the whole trace. While the outline is cached, a page after a cursor reads its own spans
 * only, and has the agents and spend of the outline.
 */
export const getTrace = operation({
  name: 'getTrace',
  access: traceReader,
  async run(
    scope: Scope<TracePlatform>,
    { cursor, pageSize, ...address }: TraceAddress & SpanPage,
  ): Promise<ReadTrace> {
    const { summaries, spendPending } = await visibleTraces(scope, address);
    const [summary, ...others] = summaries;
    if (summary === undefined) throw new NotFound('Trace', address.traceId);
    const limit = pageSize ?? DEFAULT_PAGE_SPANS;
    if (cursor !== null && others.length === 0) {
      const after = readSpanCursor(cursor, summary.spanCount);
      const outline = scope.platform.outlines.find(outlineKey(scope, summary));
      if (outline !== null) return pageOfOutline(scope, { summary, outline, spendPending }, { after, limit });
    }
    const { trace, outline } = await readWhole(scope, summaries);
    const { spans } = trace;
    const shown = { ...trace.summary, ...outline.spend };
    if (cursor === null && pageSize === null)
      return { ...trace, ...outline, summary: shown, spendPending, nextCursor: null };
    if (others.length === 0) scope.platform.outlines.put(outlineKey(scope, summary), outline);
    const after = cursor === null ? null : readSpanCursor(cursor, spans.length);
    const rest = after === null ? spans : spans.filter((span) => isAfterPosition(span, after));
    const shownTrace = { ...outline, summary: shown, parts: trace.parts, spendPending };
    return spanPageOf(shownTrace, rest, { limit, spanCount: spans.length });
  },
});

/** A page after a cursor, of a trace whose outline is cached. Reads only the spans of the page. */
async function pageOfOutline(
  scope: Scope<TracePlatform>,
  {
    summary,
    outline,
    spendPending,
  }: { readonly summary: TraceSummary; readonly outline: TraceOutline; readonly spendPending: boolean },
  { after, limit }: { readonly after: ReturnType<typeof readSpanCursor>; readonly limit: number },
): Promise<ReadTrace> {
  const { traces } = scope.platform.stores;
  // A trace without a root span has the name of its first span.
  const firstSpan = outline.rootless ? (await traces.listSpanPage(summary, null, 1))[0] : undefined;
  const rest = await traces.listSpanPage(summary, after, limit + 1);
  const shown = { ...namedByFirst(summary, firstSpan), ...outline.spend };
  const trace = { ...outline, summary: shown, parts: [summary], spendPending };
  return spanPageOf(trace, rest, { limit, spanCount: summary.spanCount });
}

/** Key of a cached outline. It contains the visibility, because outlines contain spend that not all callers may see. */
function outlineKey(scope: Scope<TracePlatform>, { traceRef, spanCount }: TraceSummary): string {
  return JSON.stringify([traceRef, spanCount, visibilityOf(callerOf(scope))]);
}

function spanPageOf(
  trace: TraceOutline & Pick<ReadTrace, 'summary' | 'parts' | 'spendPending'>,
  rest: readonly SpanHead[],
  { limit, spanCount }: { readonly limit: number; readonly spanCount: number },
): ReadTrace {
  const spans = rest.slice(0, limit);
  const last = rest.length > limit ? spans.at(-1) : undefined;
  return { ...trace, spans, nextCursor: last === undefined ? null : spanCursorAt(last, spanCount) };
}

async function readWhole(
  scope: Scope<TracePlatform>,
  summaries: readonly TraceSummary[],
): Promise<{ readonly trace: Trace; readonly outline: TraceOutline }> {
  const trace = await assembled(scope, summaries);
  if (trace === null) throw new TypeError('A trace is assembled from at least one summary.');
  const { spans, agents, parts, summary } = trace;
  const { calls, agentSpend, rowsOfOtherTraces } = await scope.loaders.accountsByTrace.load(parts);
  const spend = spendWithOtherTraces(summary, spans, calls, rowsOfOtherTraces);
  return { trace, outline: { agents, calls, agentSpend, spend, rootless: isRootless(spans) } };
}

/** A span, the stored trace that has it, and the parts of the trace that the caller sees. */
export interface FoundSpan extends Span {
  readonly traceRef: string;
  readonly within: readonly TraceIdentity[];
}

/** One span with its input, output and attributes. Throws NotFound. */
export const getSpan = operation({
  name: 'getSpan',
  access: traceReader,
  async run(
    scope: Scope<TracePlatform>,
    { spanId, ...address }: TraceAddress & { readonly spanId: string },
  ): Promise<FoundSpan> {
    const wanted = spanId.toLowerCase();
    const within = SPAN_ID.test(wanted) ? await visibleSummaries(scope, address) : [];
    const found = await scope.loaders.contentBySpan.loadMany(
      within.map(({ traceId, traceRef }) => ({ traceId, traceRef, spanId: wanted })),
    );
    const spans = within.flatMap(({ traceRef }, at): readonly FoundSpan[] => {
      const span = found[at] ?? null;
      if (span instanceof Error) throw span;
      return span === null ? [] : [{ ...span, traceRef, within }];
    });
    const [first, ...others] = spans;
    if (first === undefined) throw new NotFound('Span', spanId);
    // Several keys may have sent one span id. The earliest span is shown, as in the merged trace.
    return others.reduce((earliest, span) => (span.startNs < earliest.startNs ? span : earliest), first);
  },
});

/**
 * Streams traces as they are stored: all that match the filters, or one. With `after`, the stream starts with the
 * updates since that event. Ends when the client disconnects or loses access. Throws Conflict when some of these
 * updates were evicted, and Unsupported for a filter of annotations, which updates do not contain.
 */
export const watchTraces = operation({
  name: 'watchTraces',
  access: traceReader,
  run(
    scope: Scope<TracePlatform>,
    {
      traceId,
      after,
      filters = NO_TRACE_FILTERS,
    }: { readonly traceId?: string | null; readonly after?: string | null; readonly filters?: TraceFilters },
  ): PollableStream<TraceUpdate> {
    if (filters.annotation !== null) throw new Unsupported('Updates of traces cannot be filtered by annotations.');
    const onlyTraceId = traceId?.toLowerCase() ?? null;
    const reader = callerOf(scope);
    const deliveries = scope.platform.bus.subscribe('trace', {
      wanted: ({ summary }) =>
        (onlyTraceId === null || summary.traceId === onlyTraceId) &&
        tracePassesFilters(summary, filters) &&
        mayBeShown(scope, reader, summary.owner),
      after: after ?? null,
      signal: scope.signal,
    });
    return whileAllowed(deliveries, {
      scope,
      access: traceReader,
      show: (update, caller) => (mayRead(visibilityOf(caller), update.event.summary.owner) ? update : null),
    });
  },
});

/**
 * Whether a subscriber may see the traces of an owner, so that invisible events do not fill its queue. True when the
 * key is not cached or no longer valid: the feed checks each event again.
 */
function mayBeShown(scope: Scope<TracePlatform>, reader: Caller, owner: Owner): boolean {
  try {
    const caller = scope.platform.keyRing.current(reader);
    if (!(caller instanceof Promise)) return mayRead(visibilityOf(caller), owner);
    // The feed reads the caller again and reports the failure.
    caller.catch(() => {});
  } catch {}
  return true;
}

/** One trace by its id, or null when there is none that the caller may see. */
export const findTrace = operation({
  name: 'findTrace',
  access: traceReader,
  run: async (scope: Scope<TracePlatform>, address: TraceAddress): Promise<FoundTrace | null> =>
    traceOfSummaries(scope, await visibleSummaries(scope, address)),
});
