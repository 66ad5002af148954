import DataLoader from 'dataloader';
import { type Caller, mayRead, visibilityOf } from '../../src/domain/caller.ts';
import type { EntryHistory } from '../../src/domain/catalog/history.ts';
import type { SpanHead } from '../../src/domain/traces/span.ts';
import type { TraceKey, TraceStore } from '../../src/domain/traces/store.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import type { SoughtCall, SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { TraceIdentity } from '../../src/domain/traces/trace.ts';
import { booksOf, type TraceBooks } from '../trace-books.ts';
import type { Stores } from './stores.ts';

/** Entries whose histories are read at once: each may bring hundreds of changes. */
const MOST_HISTORIES = 100;

/**
 * Spans that one read brings, where the traces are known to have more. The rows of a read become spans in one go, which
 * takes some microseconds each; between two reads others run.
 */
const MOST_READ_SPANS = 2_000;

/** One DataLoader per question, so that a list of traces costs one query for its spans, not fifty. */
export interface Loaders {
  /** What history knows of an entry's prices, by the id of the entry. */
  readonly historyByEntry: DataLoader<string, EntryHistory>;
  /** The spans of a trace. */
  readonly spansByTrace: DataLoader<TraceKey, readonly SpanHead[], string>;
  /** The spend row of a span, by `traceId:spanId`; null when the gateway did not make the span. */
  readonly spendRowBySpan: DataLoader<string, SpendRow | null>;
  /** The rows that a call may be, of those the gateway has in traces of its own. */
  readonly spendRowsElsewhere: DataLoader<SoughtCall, readonly SpendRow[], string>;
  /** What the books say of a trace, by what it is put together from. */
  readonly booksByTrace: DataLoader<readonly TraceIdentity[], TraceBooks, string>;
  /** A key by its hash, where the caller may see it: an administrator every one, a key without a team its own; else null. */
  readonly keyByHash: DataLoader<string, VirtualKey | null>;
}

/** A trace to read the spans of. A summary tells how many there are. */
type SpansWanted = TraceKey & { readonly spanCount?: number };

/** The spans of each trace: in one read, or in several where there are many. */
async function readSpans(
  store: Pick<TraceStore, 'listSpans' | 'listSpanPage'>,
  traces: readonly SpansWanted[],
): Promise<readonly (readonly SpanHead[])[]> {
  const found = new Map<string, readonly SpanHead[]>();
  let batch: SpansWanted[] = [];
  let expected = 0;
  async function readBatch(): Promise<void> {
    if (batch.length > 0) for (const [ref, spans] of await store.listSpans(batch)) found.set(ref, spans);
    batch = [];
    expected = 0;
  }
  for (const trace of traces) {
    const { spanCount = 0 } = trace;
    if (spanCount > MOST_READ_SPANS) found.set(trace.traceRef, await readInPages(store, trace));
    else {
      if (expected + spanCount > MOST_READ_SPANS) await readBatch();
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
    const page = await store.listSpanPage(trace, spans.at(-1) ?? null, MOST_READ_SPANS);
    for (const span of page) spans.push(span);
    if (page.length < MOST_READ_SPANS) return spans;
  }
}

/**
 * Loaders for one caller. A span's ids are whatever its sender says, so a spend row is shown only to those who
 * may read what its owner wrote: naming somebody's span does not open their books.
 */
export function createLoaders(stores: Stores, caller: Caller | null): Loaders {
  const mine = (row: SpendRow): boolean => caller !== null && mayRead(visibilityOf(caller), row);
  const questions: Pick<Loaders, 'spansByTrace' | 'spendRowBySpan' | 'spendRowsElsewhere'> = {
    spansByTrace: new DataLoader((traces) => readSpans(stores.traces, traces), {
      cacheKeyFn: ({ traceRef }) => traceRef,
    }),
    spendRowBySpan: new DataLoader(async (spanKeys) => {
      const rows = new Map(
        (await stores.spend.findBySpans(spanKeys)).filter(mine).map((row) => [`${row.traceId}:${row.spanId}`, row]),
      );
      return spanKeys.map((key) => rows.get(key) ?? null);
    }),
    spendRowsElsewhere: new DataLoader(
      async (sought) => {
        const rows = (await stores.spend.findElsewhere(sought)).filter(mine);
        return sought.map(({ responseId, callId }) =>
          rows.filter(
            (row) =>
              (responseId !== null && row.responseId === responseId) || (callId !== null && row.callId === callId),
          ),
        );
      },
      { cacheKeyFn: (sought) => JSON.stringify(Object.values(sought)) },
    ),
  };
  return {
    ...questions,
    booksByTrace: new DataLoader((traces) => Promise.all(traces.map((parts) => booksOf(parts, questions))), {
      cacheKeyFn: (parts) => parts.map(({ traceRef }) => traceRef).join(),
    }),
    keyByHash: new DataLoader(async (hashes) => {
      // By visibility alone: subscribers who may see the same are told the same.
      const visibility = caller === null ? null : visibilityOf(caller);
      if (visibility?.kind !== 'all')
        return hashes.map((hash) => (visibility?.kind === 'key' && caller?.key?.hash === hash ? caller.key : null));
      const keys = new Map((await stores.keys.findMany(hashes)).map((key) => [key.hash, key]));
      return hashes.map((hash) => keys.get(hash) ?? null);
    }),
    historyByEntry: new DataLoader((entryIds) => stores.catalogHistory.ofEntries(entryIds), {
      maxBatchSize: MOST_HISTORIES,
    }),
  };
}
