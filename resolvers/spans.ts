import { visibilityOf } from '../src/domain/caller.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { spansOfParts } from '../src/domain/traces/assemble-trace.ts';
import { isBehind, readSpanCursor } from '../src/domain/traces/span-cursor.ts';
import type { SpanHead } from '../src/domain/traces/span.ts';
import { type SpanErrorPage, spanErrorPage } from '../src/domain/traces/span-error.ts';
import type { TraceKey } from '../src/domain/traces/store.ts';
import type { TraceIdentity, TraceSummary } from '../src/domain/traces/trace.ts';
import { traceReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import { getSpan, type TraceAddress, type TraceUpdate, visibleSummaries, watchTraces } from './traces.ts';

/** Spans of one update; more come in several. */
const UPDATE_SPANS = 500;
/** Most spans of a page. */
export const MOST_PAGE_SPANS = 500;
const TRACE_ID = /^[0-9a-f]{32}$/;
const UPDATE_ID = /^\d{1,15}$/;

/** A page of the spans of a trace, and what its cursors need. */
export interface SpanListPage {
  readonly items: readonly SpanHead[];
  readonly hasMore: boolean;
  /** Spans of the whole trace. */
  readonly spanCount: number;
  /** What the trace is put together from. */
  readonly within: readonly TraceIdentity[];
}

export interface SpanListQuery extends TraceAddress {
  /** Of the span before the page; null for the start. */
  readonly cursor: string | null;
  /** 1 to 500. */
  readonly limit: number;
}

/**
 * Spans of a trace by start, some at a time: no more are read than are told. Throws NotFound, InvalidInput, and Conflict
 * for a cursor from before the trace changed.
 */
export const listSpans = operation({
  name: 'listSpans',
  access: traceReader,
  async run(scope: Scope, { cursor, limit, ...address }: SpanListQuery): Promise<SpanListPage> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_PAGE_SPANS)
      throw new InvalidInput(`A page holds 1 to ${MOST_PAGE_SPANS} spans.`);
    const { traces } = scope.platform.stores;
    const within = await visibleSummaries(scope, address);
    const [summary, ...others] = within;
    if (summary === undefined) throw new NotFound('Trace', address.traceId);
    // Several traces under one id are one, which only shows when all of their spans are there.
    const merged = others.length === 0 ? null : spansOfParts(within, await traces.listSpans(within));
    const spanCount = merged?.length ?? summary.spanCount;
    const behind = cursor === null ? null : readSpanCursor(cursor, spanCount);
    const rest =
      merged === null
        ? await traces.listSpanPage(summary, behind, limit + 1)
        : merged.filter((span) => behind === null || isBehind(span, behind));
    return { items: rest.slice(0, limit), hasMore: rest.length > limit, spanCount, within };
  },
});

/**
 * What a span says went wrong, as far as it is kept, in parts of bearable length; empty for one that says nothing. Throws
 * NotFound, InvalidInput for a cursor that is none, and Conflict for one of another text.
 */
export const getSpanError = operation({
  name: 'getSpanError',
  access: traceReader,
  async run(
    scope: Scope,
    { cursor, ...address }: TraceAddress & { readonly spanId: string; readonly cursor: string | null },
  ): Promise<SpanErrorPage & { readonly spanId: string }> {
    const { spanId, error } = await getSpan(scope, address);
    return { spanId, ...spanErrorPage(error ?? '', cursor) };
  },
});

/** Spans of a trace that its reader was not told of before, by start. */
export interface SpanUpdate {
  /** Names the update: how many spans its reader knows with it. Who comes back behind it misses nothing. */
  readonly id: string;
  readonly spans: readonly SpanHead[];
}

/**
 * Spans of one trace as they are stored, of every owner the caller may read; none of those it has already. With `after`
 * the reader comes back: if the trace has not the spans it had with that update, all of them come first. Ends when the
 * caller leaves, or may not look any more. Throws InvalidInput.
 */
export const watchSpans = operation({
  name: 'watchSpans',
  access: traceReader,
  async run(
    scope: Scope,
    { traceId, after }: { readonly traceId: string; readonly after: string | null },
  ): Promise<AsyncIterableIterator<SpanUpdate>> {
    const wanted = traceId.toLowerCase();
    if (!TRACE_ID.test(wanted)) throw new InvalidInput('A trace is named by 32 hex digits.');
    if (after !== null && !UPDATE_ID.test(after)) throw new InvalidInput('No update of spans is named so.');
    const { traces } = scope.platform.stores;
    const read = async (keys: readonly TraceKey[]) => (keys.length === 0 ? new Map() : traces.listSpans(keys));
    // Before what is there is read, so that nothing falls in between.
    const updates = watchTraces(scope, { traceId: wanted });
    try {
      await scope.platform.recordsReadable();
      const summaries = await traces.findSummaries(visibilityOf(callerOf(scope)), wanted, null);
      const feed = new SpanFeed(updates, read);
      feed.take(summaries, await read(summaries), after);
      return feed;
    } catch (error) {
      await updates.return?.();
      throw error;
    }
  },
});

type SpansByRef = ReadonlyMap<string, readonly SpanHead[]>;

/** Not a generator: one would hold `return()` back behind a `next()` that may never come. */
class SpanFeed implements AsyncIterableIterator<SpanUpdate> {
  readonly #updates: AsyncIterableIterator<TraceUpdate>;
  readonly #read: (keys: readonly TraceKey[]) => Promise<SpansByRef>;
  /** What the reader was told of, by ref; and how many spans each trace had when it was read. */
  readonly #told = new Map<string, Set<string>>();
  readonly #counts = new Map<string, number>();
  #waiting: readonly SpanHead[] = [];
  #known = 0;

  constructor(updates: AsyncIterableIterator<TraceUpdate>, read: (keys: readonly TraceKey[]) => Promise<SpansByRef>) {
    this.#updates = updates;
    this.#read = read;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Takes what is there at the beginning; it is told to readers who knew another number of spans. */
  take(summaries: readonly TraceSummary[], spans: SpansByRef, after: string | null): void {
    for (const summary of summaries) this.#add(summary, spans);
    const total = this.#waiting.length;
    if (after !== null && Number(after) !== total) return;
    this.#waiting = [];
    this.#known = total;
  }

  async next(): Promise<IteratorResult<SpanUpdate>> {
    while (this.#waiting.length === 0) {
      const step = await this.#updates.next();
      if (step.done === true) return { done: true, value: undefined };
      const { summary } = step.value.event;
      // What an update that came meanwhile told of is read already.
      if (this.#counts.get(summary.traceRef) !== summary.spanCount) this.#add(summary, await this.#read([summary]));
    }
    const spans = this.#waiting.slice(0, UPDATE_SPANS);
    this.#waiting = this.#waiting.slice(UPDATE_SPANS);
    this.#known += spans.length;
    return { done: false, value: { id: String(this.#known), spans } };
  }

  async return(): Promise<IteratorResult<SpanUpdate>> {
    await this.#updates.return?.();
    return { done: true, value: undefined };
  }

  #add({ traceRef }: TraceSummary, spans: SpansByRef): void {
    const all = spans.get(traceRef) ?? [];
    const told = this.#told.get(traceRef) ?? new Set();
    this.#told.set(traceRef, told);
    this.#counts.set(traceRef, all.length);
    const fresh = all.filter(({ spanId }) => !told.has(spanId));
    for (const { spanId } of fresh) told.add(spanId);
    this.#waiting = [...this.#waiting, ...fresh];
  }
}
