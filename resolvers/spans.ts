import { visibilityOf } from '../src/domain/caller.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { isAfterPosition, readSpanCursor } from '../src/domain/traces/span-cursor.ts';
import { type SpanHead, MAX_PAGE_SPANS } from '../src/domain/traces/span.ts';
import { type SpanErrorPage, spanErrorPage } from '../src/domain/traces/span-error.ts';
import type { TraceKey, TraceAddress } from '../src/domain/traces/store.ts';
import type { TraceIdentity, TraceSummary } from '../src/domain/traces/trace.ts';
import { traceReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import type { OwnedSpan, SpanTree } from './operation/span-tree.ts';
import { getSpan, type TraceUpdate, watchTraces } from './traces.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';

/** Maximum number of spans of one update. */
const MAX_UPDATE_SPANS = 500;
const TRACE_ID = /^[0-9a-f]{32}$/;
const UPDATE_ID = /^\d{1,15}$/;

/**
 * Maximum number of spans of a trace of one owner that is read whole. One statement reads all such traces of a list.
 * Larger traces of one owner are read page by page.
 */
const MAX_WHOLE_SPANS = 500;

/** One page of spans. */
export interface SpanListPage {
  readonly items: readonly OwnedSpan[];
  readonly hasMore: boolean;
  /** Number of spans on all pages. */
  readonly totalCount: number;
  /** Number of spans of the trace. Cursors contain it. */
  readonly spanCount: number;
}

/** A trace that the caller may read, as an operation returned it. */
interface ReadableTrace {
  readonly parts: readonly TraceIdentity[];
  readonly spanCount: number;
}

export interface SpanListQuery {
  readonly trace: ReadableTrace;
  /** Cursor of the last span before the page; null for the first page. */
  readonly cursor: string | null;
  /** 1 to 500. */
  readonly limit: number;
}

/**
 * A page of the spans of a trace by start. Throws InvalidInput, and Conflict for a cursor from before the trace
 * changed.
 */
export const listSpans = operation({
  name: 'listSpans',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, { trace, cursor, limit }: SpanListQuery): Promise<SpanListPage> {
    checkedPageSize(limit, { max: MAX_PAGE_SPANS });
    const [part, ...otherParts] = trace.parts;
    const isReadWhole = otherParts.length > 0 || trace.spanCount <= MAX_WHOLE_SPANS;
    if (part === undefined || isReadWhole) {
      const tree = await scope.loaders.spanTreeByTrace.load(trace.parts);
      return pageOfTree(tree, tree.spans, { cursor, limit });
    }
    const { spanCount } = trace;
    const after = cursor === null ? null : readSpanCursor(cursor, spanCount);
    const rest = await scope.platform.stores.traces.listSpanPage(part, after, limit + 1);
    const items = rest.slice(0, limit).map((span) => ({ ...span, traceRef: part.traceRef }));
    return { items, hasMore: rest.length > limit, totalCount: spanCount, spanCount };
  },
});

/** A span of a trace that the caller may read. `within` are the parts of the trace. */
interface ReadableSpan {
  readonly within: readonly TraceIdentity[];
  readonly spanId: string;
  readonly parentSpanId: string | null;
}

/** The parent of a span; null for a root, and while the parent is not stored. */
export const findParent = operation({
  name: 'findParent',
  access: traceReader,
  async run(scope: Scope<TracePlatform>, { within, spanId, parentSpanId }: ReadableSpan): Promise<OwnedSpan | null> {
    if (parentSpanId === null || parentSpanId === spanId) return null;
    const tree = await scope.loaders.spanTreeByTrace.load(within);
    const parent = tree.byId.get(parentSpanId);
    return parent === undefined ? null : { ...parent, traceRef: tree.refOf(parent) };
  },
});

/**
 * A page of the children of a span by start. Throws InvalidInput, and Conflict for a cursor from before the trace
 * changed.
 */
export const listChildren = operation({
  name: 'listChildren',
  access: traceReader,
  async run(
    scope: Scope<TracePlatform>,
    { span, cursor, limit }: Pick<SpanListQuery, 'cursor' | 'limit'> & { readonly span: ReadableSpan },
  ): Promise<SpanListPage> {
    checkedPageSize(limit, { max: MAX_PAGE_SPANS });
    const tree = await scope.loaders.spanTreeByTrace.load(span.within);
    return pageOfTree(tree, tree.children.get(span.spanId) ?? [], { cursor, limit });
  },
});

function pageOfTree(
  tree: SpanTree,
  spans: readonly SpanHead[],
  { cursor, limit }: Pick<SpanListQuery, 'cursor' | 'limit'>,
): SpanListPage {
  const spanCount = tree.spans.length;
  const after = cursor === null ? null : readSpanCursor(cursor, spanCount);
  const rest = after === null ? spans : spans.filter((span) => isAfterPosition(span, after));
  const items = rest.slice(0, limit).map((span) => ({ ...span, traceRef: tree.refOf(span) }));
  return { items, hasMore: rest.length > limit, totalCount: spans.length, spanCount };
}

/**
 * A page of the stored error text of a span; empty for a span without one. Throws NotFound, InvalidInput for an invalid
 * cursor, and Conflict for a cursor of another text.
 */
export const getSpanError = operation({
  name: 'getSpanError',
  access: traceReader,
  async run(
    scope: Scope<TracePlatform>,
    { cursor, ...address }: TraceAddress & { readonly spanId: string; readonly cursor: string | null },
  ): Promise<SpanErrorPage & { readonly spanId: string }> {
    const { spanId, error } = await getSpan(scope, address).catch((cause: unknown) => {
      if (!(cause instanceof NotFound)) throw cause;
      const message = 'Span diagnostic not found or no longer available';
      throw new NotFound('Span', address.spanId, message, { cause });
    });
    return { spanId, ...spanErrorPage(error ?? '', cursor) };
  },
});

/** New spans of a trace for one subscriber, by start. */
export interface SpanUpdate {
  /**
   * Number of spans delivered so far, this update included. A subscriber passes it as `after` to resume without loss.
   */
  readonly id: string;
  readonly spans: readonly DeliveredSpan[];
}

/** A span and its stored trace. */
type DeliveredSpan = OwnedSpan & { readonly within: readonly TraceIdentity[] };

/**
 * Streams the spans of one trace as they are stored, of every owner the caller may read. With `after` the subscriber
 * resumes: when the trace has changed since that update, all of its spans are delivered first. Ends when the client
 * disconnects or loses access. Throws InvalidInput.
 */
export const watchSpans = operation({
  name: 'watchSpans',
  access: traceReader,
  async run(
    scope: Scope<TracePlatform>,
    { traceId, after }: { readonly traceId: string; readonly after: string | null },
  ): Promise<AsyncIterableIterator<SpanUpdate>> {
    const wanted = traceId.toLowerCase();
    if (!TRACE_ID.test(wanted)) throw new InvalidInput('A trace is named by 32 hex digits.');
    if (after !== null && !UPDATE_ID.test(after)) throw new InvalidInput('`after` is not the id of an update.');
    const { traces } = scope.platform.stores;
    const read = async (keys: readonly TraceKey[]) => (keys.length === 0 ? new Map() : traces.listSpans(keys));
    // Subscribes before the read, so that no update is missed.
    const updates = watchTraces(scope, { traceId: wanted });
    try {
      await scope.platform.records.readable();
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

/** The updates of `watchSpans`. No generator, because `return()` of a generator waits for a pending `next()`. */
class SpanFeed implements AsyncIterableIterator<SpanUpdate> {
  readonly #updates: AsyncIterableIterator<TraceUpdate>;
  readonly #read: (keys: readonly TraceKey[]) => Promise<SpansByRef>;
  /** Ids of the spans that were delivered or wait for delivery, by trace ref. */
  readonly #delivered = new Map<string, Set<string>>();
  /** Number of spans of a trace when it was last read, by trace ref. */
  readonly #counts = new Map<string, number>();
  #waiting: readonly DeliveredSpan[] = [];
  #deliveredCount = 0;

  constructor(updates: AsyncIterableIterator<TraceUpdate>, read: (keys: readonly TraceKey[]) => Promise<SpansByRef>) {
    this.#updates = updates;
    this.#read = read;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * Takes the spans that are stored at the start. They are delivered only to a subscriber that resumes (`after`) and
   * has received another number of spans.
   */
  take(summaries: readonly TraceSummary[], spans: SpansByRef, after: string | null): void {
    for (const summary of summaries) this.#add(summary, spans);
    const total = this.#waiting.length;
    if (after !== null && Number(after) !== total) return;
    this.#waiting = [];
    this.#deliveredCount = total;
  }

  async next(): Promise<IteratorResult<SpanUpdate>> {
    while (this.#waiting.length === 0) {
      const step = await this.#updates.next();
      if (step.done === true) return { done: true, value: undefined };
      const { summary } = step.value.event;
      // With an equal count, the read at the start or an earlier update has delivered the spans of this update.
      if (this.#counts.get(summary.traceRef) !== summary.spanCount) this.#add(summary, await this.#read([summary]));
    }
    const spans = this.#waiting.slice(0, MAX_UPDATE_SPANS);
    this.#waiting = this.#waiting.slice(MAX_UPDATE_SPANS);
    this.#deliveredCount += spans.length;
    return { done: false, value: { id: String(this.#deliveredCount), spans } };
  }

  async return(): Promise<IteratorResult<SpanUpdate>> {
    await this.#updates.return?.();
    return { done: true, value: undefined };
  }

  #add({ traceId, traceRef, owner }: TraceSummary, spans: SpansByRef): void {
    const all = spans.get(traceRef) ?? [];
    const delivered = this.#delivered.get(traceRef) ?? new Set();
    this.#delivered.set(traceRef, delivered);
    this.#counts.set(traceRef, all.length);
    const fresh = all.filter(({ spanId }) => !delivered.has(spanId));
    for (const { spanId } of fresh) delivered.add(spanId);
    const within = [{ traceId, traceRef, owner }];
    this.#waiting = [...this.#waiting, ...fresh.map((span) => ({ ...span, traceRef, within }))];
  }
}
