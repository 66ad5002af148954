import DataLoader from 'dataloader';
import { type Caller, mayRead, visibilityOf } from '../src/domain/caller.ts';
import type { EntryHistory } from '../src/domain/catalog/history.ts';
import type { SpanHead } from '../src/domain/traces/span.ts';
import type { TraceKey } from '../src/domain/traces/store.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import type { Stores } from './stores.ts';

/** Entries whose histories are read at once: each may bring hundreds of changes. */
const MOST_HISTORIES = 100;

/** One DataLoader per question, so that a list of traces costs one query for its spans, not fifty. */
export interface Loaders {
  /** What history knows of an entry's prices, by the id of the entry. */
  readonly historyByEntry: DataLoader<string, EntryHistory>;
  /** The spans of a trace. */
  readonly spansByTrace: DataLoader<TraceKey, readonly SpanHead[], string>;
  /** The spend row of a span, by `traceId:spanId`; null when the gateway did not make the span. */
  readonly spendRowBySpan: DataLoader<string, SpendRow | null>;
}

/**
 * Loaders for one caller. A span's ids are whatever its sender says, so a spend row is shown only to those who
 * may read what its owner wrote: naming somebody's span does not open their books.
 */
export function createLoaders(stores: Stores, caller: Caller | null): Loaders {
  const mine = (row: SpendRow): boolean =>
    caller !== null && mayRead(visibilityOf(caller), { teamId: row.teamId ?? '', keyHash: row.keyHash });
  return {
    historyByEntry: new DataLoader((entryIds) => stores.catalogHistory.ofEntries(entryIds), {
      maxBatchSize: MOST_HISTORIES,
    }),
    spansByTrace: new DataLoader(
      async (traces) => {
        const spans = await stores.traces.listSpans(traces);
        return traces.map(({ traceRef }) => spans.get(traceRef) ?? []);
      },
      { cacheKeyFn: ({ traceRef }) => traceRef },
    ),
    spendRowBySpan: new DataLoader(async (spanKeys) => {
      const rows = new Map(
        (await stores.spend.findBySpans(spanKeys)).filter(mine).map((row) => [`${row.traceId}:${row.spanId}`, row]),
      );
      return spanKeys.map((key) => rows.get(key) ?? null);
    }),
  };
}
