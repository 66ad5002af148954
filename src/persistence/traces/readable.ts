import type { SpendStore } from '../../domain/spend/spend-row.ts';
import type { TraceStore } from '../../domain/traces/store.ts';

// Calls are committed before they are in the tables that are read (ADR 0035): whoever reads waits until they are.

type Readable = () => Promise<void>;

export function readableSpend(store: SpendStore, readable: Readable): SpendStore {
  return {
    append: (rows) => store.append(rows),
    findBySpans: async (spanKeys) => {
      await readable();
      return store.findBySpans(spanKeys);
    },
    findElsewhere: async (sought) => {
      await readable();
      return store.findElsewhere(sought);
    },
    forgetErrors: async (traces) => {
      await readable();
      return store.forgetErrors(traces);
    },
    // These include calls that are not unfolded yet.
    totalOf: (keyHash) => store.totalOf(keyHash),
    totalsOf: (keyHashes) => store.totalsOf(keyHashes),
  };
}

/** What is only added to or taken away by age need not be read first. */
export function readableTraces(store: TraceStore, readable: Readable): TraceStore {
  return {
    ingest: (batches) => store.ingest(batches),
    ingestExport: (owner, packed) => store.ingestExport(owner, packed),
    forget: (beforeMs, most) => store.forget(beforeMs, most),
    listSummaries: async (visibility, window, limit) => {
      await readable();
      return store.listSummaries(visibility, window, limit);
    },
    searchSummaries: async (visibility, search, limit) => {
      await readable();
      return store.searchSummaries(visibility, search, limit);
    },
    series: async (visibility, series) => {
      await readable();
      return store.series(visibility, series);
    },
    agents: async (visibility, search, limit) => {
      await readable();
      return store.agents(visibility, search, limit);
    },
    remove: async (traces) => {
      await readable();
      return store.remove(traces);
    },
    redact: async (traces, at) => {
      await readable();
      return store.redact(traces, at);
    },
    findSummaries: async (visibility, traceId, traceRef) => {
      await readable();
      return store.findSummaries(visibility, traceId, traceRef);
    },
    listSpans: async (traces) => {
      await readable();
      return store.listSpans(traces);
    },
    listSpanPage: async (trace, after, limit) => {
      await readable();
      return store.listSpanPage(trace, after, limit);
    },
    findSpan: async (traces, spanId) => {
      await readable();
      return store.findSpan(traces, spanId);
    },
  };
}
