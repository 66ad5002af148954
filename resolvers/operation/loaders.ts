import DataLoader from 'dataloader';
import { ALL_ANNOTATIONS, type Annotation } from '../../src/domain/annotations/annotation.ts';
import { type Caller, mayRead, visibilityOf } from '../../src/domain/caller.ts';
import type { EntryHistory } from '../../src/domain/catalog/history.ts';
import { type MemoryReads, newMemoryReads } from '../../src/domain/memory/memory.ts';
import { findingCounts } from '../../src/domain/lens/finding-counts.ts';
import type { Span, SpanHead } from '../../src/domain/traces/span.ts';
import type { TraceKey, TraceStore } from '../../src/domain/traces/store.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import type { CallSearch, SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { TraceIdentity, TraceSummary } from '../../src/domain/traces/trace.ts';
import { accountsOf, type TraceAccounts } from './trace-accounts.ts';
import { createOwnerLoaders, type OwnerLoaders } from './owner-loaders.ts';
import { type SpanTree, spanTreeOf } from './span-tree.ts';
import type { Stores } from './stores.ts';

/** Maximum number of catalog entries whose histories one query reads: each may have hundreds of changes. */
const MAX_HISTORIES = 100;

/**
 * Maximum number of spans of one read. The rows of a read are converted synchronously, in a few microseconds each.
 * Other work runs between two reads.
 */
const MAX_READ_SPANS = 2_000;

/** Maximum number of traces whose annotations one query reads: each may have a thousand. */
const MAX_ANNOTATED_TRACES = 50;

/** Maximum number of spans whose content is read concurrently. `createContentLoader` runs its batches one by one. */
const MAX_CONTENTS = 8;

/** One DataLoader for each query of a store: a list of traces reads the spans of many traces in one query. */
export interface Loaders {
  /** What the operation has read of the memory of users and teams. */
  readonly memoryReads: MemoryReads;
  /** Price history of a catalog entry, by the entry's id. */
  readonly historyByEntry: DataLoader<string, EntryHistory>;
  /** The spans of a trace. */
  readonly spansByTrace: DataLoader<TraceKey, readonly SpanHead[], string>;
  /** The spend row of a span, by `traceId:spanId`; null when the gateway has none that the caller may see. */
  readonly spendRowBySpan: DataLoader<string, SpendRow | null>;
  /**
   * Spend rows of other traces that may belong to a call of this trace. The gateway starts its own trace for a call
   * without a parent span, so the rows are found by response id or call id.
   */
  readonly spendRowsElsewhere: DataLoader<CallSearch, readonly SpendRow[], string>;
  /** The gateway's records of the calls of a trace id, by its traces: one for each owner that sent spans of this id. */
  readonly accountsByTrace: DataLoader<readonly TraceIdentity[], TraceAccounts, string>;
  /** Annotations of a trace and its spans, the oldest first. For any caller: operations check access. */
  readonly annotationsByTrace: DataLoader<TraceKey, readonly Annotation[], string>;
  /** The visible summaries with a trace id; with a ref, only the summary of that trace. */
  readonly summariesByAddress: DataLoader<SummaryAddress, readonly TraceSummary[], string>;
  /** All spans of a trace id, indexed, by its traces: one for each owner that sent spans of this id. */
  readonly spanTreeByTrace: DataLoader<readonly TraceIdentity[], SpanTree, string>;
  /** A span with its content. For any caller: operations check access. */
  readonly contentBySpan: DataLoader<SpanKey, Span | null, string>;
  /** A key by its hash, also a deleted key. For any caller: operations check access. */
  readonly storedKeyByHash: DataLoader<string, VirtualKey | null>;
  /**
   * A key by its hash; null when the caller may not see it. Administrators see every key, a key without a team sees
   * itself, and a key of a team sees none.
   */
  readonly keyByHash: DataLoader<string, VirtualKey | null>;
  /**
   * Number of open findings about a trace. Null when there is none and no lens assessed the trace in its latest run.
   * For any caller: operations check access.
   */
  readonly findingCountByTrace: DataLoader<TraceKey, number | null, string>;
  /** Owners of keys. */
  readonly owners: OwnerLoaders;
}

/** A trace id, and the ref of one of its traces; a null ref for all visible ones. */
interface SummaryAddress {
  readonly traceId: string;
  readonly traceRef: string | null;
}

/** A span of a stored trace. */
type SpanKey = TraceKey & { readonly spanId: string };

/** A trace whose spans are read. A key of the loader may be a whole summary, which contains their number. */
type SpansWanted = TraceKey & { readonly spanCount?: number };

/** The spans of each trace, in reads of at most `MAX_READ_SPANS` spans where the counts are known. */
async function readSpans(
  store: Pick<TraceStore, 'listSpans' | 'listSpanPage'>,
  traces: readonly SpansWanted[],
): Promise<readonly (readonly SpanHead[])[]> {
  const found = new Map<string, readonly SpanHead[]>();
  let batch: SpansWanted[] = [];
  let expected = 0;
  async function readBatch(): Promise<void> {
    if (batch.length === 0) return;
    for (const [ref, spans] of await store.listSpans(batch)) found.set(ref, spans);
    batch = [];
    expected = 0;
  }
  for (const trace of traces) {
    const { spanCount = 0 } = trace;
    if (spanCount > MAX_READ_SPANS) found.set(trace.traceRef, await readInPages(store, trace));
    else {
      if (expected + spanCount > MAX_READ_SPANS) await readBatch();
      batch.push(trace);
      expected += spanCount;
    }
  }
  await readBatch();
  return traces.map(({ traceRef }) => found.get(traceRef) ?? []);
}

async function readInPages(store: Pick<TraceStore, 'listSpanPage'>, trace: TraceKey): Promise<readonly SpanHead[]> {
  const spans: SpanHead[] = [];
  for (;;) {
    const page = await store.listSpanPage(trace, spans.at(-1) ?? null, MAX_READ_SPANS);
    for (const span of page) spans.push(span);
    if (page.length < MAX_READ_SPANS) return spans;
  }
}

async function readTree(
  { spansByTrace }: Pick<Loaders, 'spansByTrace'>,
  parts: readonly TraceIdentity[],
): Promise<SpanTree> {
  const spans = await Promise.all(parts.map((part) => spansByTrace.load(part)));
  return spanTreeOf(parts, new Map(parts.map(({ traceRef }, at) => [traceRef, spans[at] ?? []])));
}

/** Loads spans with their contents, at most `MAX_CONTENTS` at once. A failed read fails only its own span. */
function createContentLoader(stores: Pick<Stores, 'traces'>): Loaders['contentBySpan'] {
  const read = async ({ spanId, ...trace }: SpanKey): Promise<Span | null> => stores.traces.findSpan([trace], spanId);
  let lastBatch: Promise<unknown> = Promise.resolve();
  return new DataLoader<SpanKey, Span | null, string>(
    async (spans) => {
      const batch = lastBatch.then(() => Promise.allSettled(spans.map(read)));
      lastBatch = batch;
      const reads = await batch;
      return reads.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error)));
    },
    { cacheKeyFn: ({ traceRef, spanId }) => `${traceRef}:${spanId}`, maxBatchSize: MAX_CONTENTS },
  );
}

/**
 * Loaders for one caller. A spend row is visible only to callers that may read rows of its owner. Senders choose the
 * ids of their spans. Without this check, a sender could use a span id of another owner and read the spend row.
 */
export function createLoaders(stores: Stores, caller: Caller | null): Loaders {
  const isVisible = (row: SpendRow): boolean => caller !== null && mayRead(visibilityOf(caller), row);
  const queries: Pick<Loaders, 'spansByTrace' | 'spendRowBySpan' | 'spendRowsElsewhere' | 'contentBySpan'> = {
    spansByTrace: new DataLoader((traces) => readSpans(stores.traces, traces), {
      cacheKeyFn: ({ traceRef }) => traceRef,
    }),
    spendRowBySpan: new DataLoader(async (spanKeys) => {
      const rows = new Map(
        (await stores.spend.findBySpans(spanKeys))
          .filter(isVisible)
          .map((row) => [`${row.traceId}:${row.spanId}`, row]),
      );
      return spanKeys.map((key) => rows.get(key) ?? null);
    }),
    spendRowsElsewhere: new DataLoader(
      async (calls) => {
        const rows = (await stores.spend.findElsewhere(calls)).filter(isVisible);
        return calls.map(({ responseId, callId }) =>
          rows.filter(
            (row) =>
              (responseId !== null && row.responseId === responseId) || (callId !== null && row.callId === callId),
          ),
        );
      },
      { cacheKeyFn: (call) => JSON.stringify(Object.values(call)) },
    ),
    contentBySpan: createContentLoader(stores),
  };
  let owners: OwnerLoaders | null = null;
  return {
    memoryReads: newMemoryReads(),
    get owners() {
      owners ??= createOwnerLoaders(stores);
      return owners;
    },
    ...queries,
    accountsByTrace: new DataLoader((traces) => Promise.all(traces.map((parts) => accountsOf(parts, queries))), {
      cacheKeyFn: (parts) => parts.map(({ traceRef }) => traceRef).join(),
    }),
    annotationsByTrace: new DataLoader(
      async (traces) => {
        const found = await stores.annotations.all({ ...ALL_ANNOTATIONS, traces });
        return traces.map(({ traceId, traceRef }) =>
          found.filter((one) => one.traceId === traceId && one.traceRef === traceRef),
        );
      },
      { cacheKeyFn: ({ traceId, traceRef }) => `${traceId}:${traceRef}`, maxBatchSize: MAX_ANNOTATED_TRACES },
    ),
    summariesByAddress: new DataLoader(
      (addresses) =>
        Promise.all(
          addresses.map(({ traceId, traceRef }) =>
            caller === null
              ? Promise.resolve([])
              : stores.traces.findSummaries(visibilityOf(caller), traceId, traceRef),
          ),
        ),
      { cacheKeyFn: ({ traceId, traceRef }) => `${traceId}:${traceRef ?? ''}` },
    ),
    spanTreeByTrace: new DataLoader((traces) => Promise.all(traces.map((parts) => readTree(queries, parts))), {
      cacheKeyFn: (parts) => parts.map(({ traceRef }) => traceRef).join(),
    }),
    storedKeyByHash: new DataLoader(async (hashes) => {
      const keys = new Map((await stores.keys.findMany(hashes)).map((key) => [key.hash, key]));
      return hashes.map((hash) => keys.get(hash) ?? null);
    }),
    keyByHash: new DataLoader(async (hashes) => {
      // A key of a team does not see itself: subscribers with equal visibility share their events, so the result must
      // depend only on the visibility.
      const visibility = caller === null ? null : visibilityOf(caller);
      if (visibility?.kind !== 'all') {
        const ownKey = visibility?.kind === 'key' ? (caller?.key ?? null) : null;
        return hashes.map((hash) => (ownKey?.hash === hash ? ownKey : null));
      }
      const keys = new Map((await stores.keys.findMany(hashes)).map((key) => [key.hash, key]));
      return hashes.map((hash) => keys.get(hash) ?? null);
    }),
    findingCountByTrace: new DataLoader(async (traces) => findingCounts(await stores.lenses.all(), traces), {
      cacheKeyFn: ({ traceId, traceRef }) => `${traceId}:${traceRef}`,
    }),
    historyByEntry: new DataLoader((entryIds) => stores.catalogHistory.ofEntries(entryIds), {
      maxBatchSize: MAX_HISTORIES,
    }),
  };
}
