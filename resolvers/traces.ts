import type { Bus, Delivery } from '../src/domain/bus.ts';
import { type Caller, mayRead, type Owner, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { Page } from '../src/domain/page.ts';
import type { PromptStream } from '../src/domain/pollable-stream.ts';
import { assembleTrace, isRootless, namedByFirst } from '../src/domain/traces/assemble-trace.ts';
import { cursorAfter, readCursor } from '../src/domain/traces/cursor.ts';
import { soughtCall, spendWithElsewhere } from '../src/domain/traces/call-spend.ts';
import { type EstimatedCall, estimatedCalls, withEstimatedCalls } from '../src/domain/traces/estimate-export.ts';
import type { PackedExport, SentExport } from '../src/domain/traces/packed.ts';
import type { TraceOutline } from '../src/domain/traces/outline.ts';
import { isBehind, readSpanCursor, spanCursorAt } from '../src/domain/traces/span-cursor.ts';
import type { Span, SpanHead } from '../src/domain/traces/span.ts';
import {
  type Trace,
  type TraceChange,
  type TraceIdentity,
  type TraceSummary,
  type TraceWindow,
  TRACE_PAGE_SIZE,
} from '../src/domain/traces/trace.ts';
import { NO_FILTERS, passesFilters, type TraceFilters } from '../src/domain/traces/trace-search.ts';
import { traceReader, traceWriter } from './operation/access.ts';
import { whileAllowed } from './operation/live-feed.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import { isOfOwner } from './trace-books.ts';

/** Most calls of an export that are looked for in the books; more are estimated unseen. */
const MOST_SOUGHT = 4_096;
const DAY_MS = 86_400_000;
const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
const TRACE_REF = /^[\x21-\x7e]{1,512}$/;

/** Which trace is meant. */
export interface TraceAddress {
  readonly traceId: string;
  /** The ref of a summary, for just its owner's trace; null or empty for every visible one of the id. */
  readonly traceRef: string | null;
}

export interface TraceListQuery {
  /** Unix milliseconds, inclusive; null for 24 hours before the end. */
  readonly startMs: number | null;
  /** Unix milliseconds, exclusive; null for now. */
  readonly endMs: number | null;
  /** `nextCursor` of the page before; its own window holds. */
  readonly cursor: string | null;
  /** Summaries a page, 1 to 50. */
  readonly limit?: number;
}

/** A page of summaries and the window it was cut from, which a cursor for any of its rows needs. */
export interface TracePage extends Page<TraceSummary> {
  readonly window: Pick<TraceWindow, 'startMs' | 'endMs'>;
}

/** A trace as it stands after spans of it were stored, handed on as it was delivered: one object for many. */
export type TraceUpdate = Delivery<TraceChange>;

/** Tells subscribers of traces that changed. */
export function tellChanges(bus: Pick<Bus, 'publish'>, summaries: readonly TraceSummary[]): readonly TraceSummary[] {
  for (const summary of summaries) bus.publish('trace', { summary });
  return summaries;
}

/**
 * Takes in an export. Rows belong to the key that sent them, whatever they say of themselves. Throws InvalidInput,
 * TooLarge, and Unavailable when too much is waiting.
 */
export const ingestTraces = operation({
  name: 'ingestTraces',
  access: traceWriter,
  async run(scope: Scope, sent: SentExport): Promise<readonly TraceSummary[]> {
    const { bus, stores } = scope.platform;
    const owner = ownerOf(callerOf(scope));
    return tellChanges(bus, await stores.traces.ingestExport(owner, readExport(scope, owner, sent)));
  },
});

/** An export with what its calls are estimated to cost. */
async function readExport(scope: Scope, owner: Owner, sent: SentExport): Promise<PackedExport> {
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
 * Tells which of these calls the gateway has made and has in traces of its own: these are not estimated beside. What
 * has ended is committed first, so that it does not matter whether a client or the gateway is faster.
 */
async function recordedElsewhere(
  scope: Scope,
  owner: Owner,
  calls: readonly EstimatedCall[],
): Promise<(call: EstimatedCall) => boolean> {
  const sought = calls.flatMap((call) => soughtCall(call) ?? []).slice(0, MOST_SOUGHT);
  if (sought.length === 0) return () => false;
  await scope.platform.recordsReadable();
  const rows = await scope.platform.stores.spend.findElsewhere(sought);
  const own = rows.filter((row) => isOfOwner(row, [{ owner }]));
  const answers = new Set(own.map(({ responseId }) => responseId));
  const names = new Set(own.map(({ callId }) => callId));
  return ({ requestId, callId }) =>
    (requestId !== null && answers.has(requestId)) || (callId !== null && names.has(callId));
}

/** Summaries of the traces that began inside a window, newest first. */
export const listTraces = operation({
  name: 'listTraces',
  access: traceReader,
  async run(scope: Scope, query: TraceListQuery): Promise<TracePage> {
    const { stores, clock } = scope.platform;
    const limit = query.limit ?? TRACE_PAGE_SIZE;
    if (!Number.isInteger(limit) || limit < 1 || limit > TRACE_PAGE_SIZE)
      throw new InvalidInput(`A page holds 1 to ${TRACE_PAGE_SIZE} traces.`);
    const window = windowOf(query, clock.now().getTime());
    await scope.platform.recordsReadable();
    const items = await stores.traces.listSummaries(visibilityOf(callerOf(scope)), window, limit);
    const last = items.length === limit ? items.at(-1) : undefined;
    return { items, nextCursor: last === undefined ? null : cursorAfter(window, last), window };
  },
});

function windowOf({ startMs, endMs, cursor }: TraceListQuery, nowMs: number): TraceWindow {
  if (cursor !== null) {
    const window = readCursor(cursor);
    if ((startMs !== null && startMs !== window.startMs) || (endMs !== null && endMs !== window.endMs))
      throw new InvalidInput('The cursor belongs to another window.');
    return window;
  }
  const end = endMs ?? nowMs;
  const start = startMs ?? end - DAY_MS;
  if (start >= end) throw new InvalidInput('The window is empty: its start must be before its end.');
  return { startMs: start, endMs: end, after: null };
}

/** One trace with its agents and spans, or null when there is none that the caller may see. */
export const findTrace = operation({
  name: 'findTrace',
  access: traceReader,
  run: (scope: Scope, address: TraceAddress): Promise<Trace | null> => lookUpTrace(scope, address),
});

/** Some of the spans of a trace: those behind a cursor, at most so many; null for the start, and for all. */
export interface SpanPage {
  readonly cursor: string | null;
  readonly pageSize: number | null;
}

/** A trace with what the gateway's books say of it, and the page of its spans that was asked for. */
export interface ReadTrace extends TraceOutline, Trace {
  /** Whether calls that have ended may be missing in it: their records could not be committed in time. */
  readonly spendPending: boolean;
  /** Where the page ended; null when it was the last. */
  readonly nextCursor: string | null;
}

/** Most spans of a page whose size was not asked for. */
const MOST_PAGE_SPANS = 500;

/**
 * One trace with its agents, a page of its spans and what its calls cost. Throws NotFound, InvalidInput for a cursor
 * that is none, and Conflict for one from before the trace changed. A page behind a cursor reads its own spans; what
 * is said of the trace is what was said with the first page.
 */
export const getTrace = operation({
  name: 'getTrace',
  access: traceReader,
  async run(scope: Scope, { cursor, pageSize, ...address }: TraceAddress & SpanPage): Promise<ReadTrace> {
    const { summaries, spendPending } = await visible(scope, address);
    const [summary, ...others] = summaries;
    if (summary === undefined) throw new NotFound('Trace', address.traceId);
    const limit = pageSize ?? MOST_PAGE_SPANS;
    if (cursor !== null && others.length === 0) {
      const behind = readSpanCursor(cursor, summary.spanCount);
      const known = scope.platform.outlines.find(outlineName(scope, summary));
      if (known !== null) {
        const { traces } = scope.platform.stores;
        const first = known.rootless ? (await traces.listSpanPage(summary, null, 1))[0] : undefined;
        const rest = await traces.listSpanPage(summary, behind, limit + 1);
        const { spanCount } = summary;
        const shown = { ...namedByFirst(summary, first), ...known.spend };
        return pageOf({ ...known, summary: shown, parts: [summary], spendPending }, rest, { limit, spanCount });
      }
    }
    const { trace, outline } = await readWhole(scope, summaries);
    const { spans } = trace;
    const shown = { ...trace.summary, ...outline.spend };
    if (cursor === null && pageSize === null)
      return { ...trace, ...outline, summary: shown, spendPending, nextCursor: null };
    if (others.length === 0) scope.platform.outlines.keep(outlineName(scope, summary), outline);
    const behind = cursor === null ? null : readSpanCursor(cursor, spans.length);
    const rest = behind === null ? spans : spans.filter((span) => isBehind(span, behind));
    const told = { ...outline, summary: shown, parts: trace.parts, spendPending };
    return pageOf(told, rest, { limit, spanCount: spans.length });
  },
});

/** An outline tells what the books say, and that not to everybody: who sees other rows has another one. */
function outlineName(scope: Scope, { traceRef, spanCount }: TraceSummary): string {
  return JSON.stringify([traceRef, spanCount, visibilityOf(callerOf(scope))]);
}

function pageOf(
  trace: TraceOutline & Pick<ReadTrace, 'summary' | 'parts' | 'spendPending'>,
  rest: readonly SpanHead[],
  { limit, spanCount }: { readonly limit: number; readonly spanCount: number },
): ReadTrace {
  const spans = rest.slice(0, limit);
  const last = rest.length > limit ? spans.at(-1) : undefined;
  return { ...trace, spans, nextCursor: last === undefined ? null : spanCursorAt(last, spanCount) };
}

async function readWhole(
  scope: Scope,
  summaries: readonly TraceSummary[],
): Promise<{ readonly trace: Trace; readonly outline: TraceOutline }> {
  const trace = await assembled(scope, summaries);
  if (trace === null) throw new TypeError('A trace is assembled from one summary at least.');
  const { spans, agents, parts, summary } = trace;
  const { calls, agentSpend, elsewhere } = await scope.loaders.booksByTrace.load(parts);
  const spend = spendWithElsewhere(summary, spans, calls, elsewhere);
  return { trace, outline: { agents, calls, agentSpend, spend, rootless: isRootless(spans) } };
}

/** A span, and what its trace is put together from. */
export interface FoundSpan extends Span {
  readonly within: readonly TraceIdentity[];
}

/** One span with its input, output and attributes. Throws NotFound. */
export const getSpan = operation({
  name: 'getSpan',
  access: traceReader,
  async run(scope: Scope, { spanId, ...address }: TraceAddress & { readonly spanId: string }): Promise<FoundSpan> {
    const wanted = spanId.toLowerCase();
    const summaries = SPAN_ID.test(wanted) ? await visibleSummaries(scope, address) : [];
    const span = summaries.length === 0 ? null : await scope.platform.stores.traces.findSpan(summaries, wanted);
    if (span === null) throw new NotFound('Span', spanId);
    return { ...span, within: summaries };
  },
});

/**
 * Traces as they land, or just one of them; with `after`, first those that landed behind that update. Ends when the
 * caller leaves, or may not look any more. Throws Conflict when what came after is no longer kept.
 */
export const watchTraces = operation({
  name: 'watchTraces',
  access: traceReader,
  run(
    scope: Scope,
    {
      traceId,
      after,
      filters = NO_FILTERS,
    }: { readonly traceId?: string | null; readonly after?: string | null; readonly filters?: TraceFilters },
  ): PromptStream<TraceUpdate> {
    const only = traceId?.toLowerCase() ?? null;
    const reader = callerOf(scope);
    const deliveries = scope.platform.bus.subscribe('trace', {
      wanted: ({ summary }) =>
        (only === null || summary.traceId === only) &&
        passesFilters(summary, filters) &&
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
 * Whether a reader may be shown a trace by what they are now, as far as that is known at once: what nobody here may see
 * should not fill their queue. Where it is not known, and where they may follow no longer, the feed finds out.
 */
function mayBeShown(scope: Scope, reader: Caller, owner: Owner): boolean {
  try {
    const caller = scope.platform.keyRing.current(reader);
    if (!(caller instanceof Promise)) return mayRead(visibilityOf(caller), owner);
    // Asked again by the feed, which says what came of it.
    caller.catch(() => {});
  } catch {}
  return true;
}

const lookUpTrace = async (scope: Scope, address: TraceAddress): Promise<Trace | null> =>
  assembled(scope, await visibleSummaries(scope, address));

/** Null when there is no summary. The spans are kept for what else is asked of the trace. */
async function assembled(scope: Scope, summaries: readonly TraceSummary[]): Promise<Trace | null> {
  const spans = await scope.loaders.spansByTrace.loadMany(summaries);
  const byRef = summaries.map(({ traceRef }, at): readonly [string, readonly SpanHead[]] => {
    const own = spans[at];
    if (own instanceof Error) throw own;
    return [traceRef, own ?? []];
  });
  return assembleTrace(summaries, new Map(byRef));
}

/** The summaries that are meant and that the caller may see. Ids that cannot exist are not looked up. */
export const visibleSummaries = async (scope: Scope, address: TraceAddress): Promise<readonly TraceSummary[]> =>
  (await visible(scope, address)).summaries;

async function visible(
  scope: Scope,
  { traceId, traceRef }: TraceAddress,
): Promise<{ readonly summaries: readonly TraceSummary[]; readonly spendPending: boolean }> {
  const wanted = traceId.toLowerCase();
  const ref = traceRef === '' ? null : traceRef;
  if (!TRACE_ID.test(wanted) || (ref !== null && !TRACE_REF.test(ref))) return { summaries: [], spendPending: false };
  const readable = await scope.platform.recordsReadable();
  const summaries = await scope.platform.stores.traces.findSummaries(visibilityOf(callerOf(scope)), wanted, ref);
  return { summaries, spendPending: !readable };
}
