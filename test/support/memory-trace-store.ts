import { createHash } from 'node:crypto';
import { mayRead, type Owner } from '../../src/domain/caller.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import { growSummary, type TraceSummary } from '../../src/domain/traces/trace.ts';

interface StoredTrace {
  summary: TraceSummary;
  readonly spans: Map<string, Span>;
}

export const traceRefOf = ({ teamId, keyHash }: Owner, traceId: string): string =>
  createHash('sha256').update(`${teamId}\0${keyHash}\0${traceId}`).digest('hex').toUpperCase();

const byStart = (left: Span, right: Span): number =>
  left.startNs === right.startNs ? (left.spanId < right.spanId ? -1 : 1) : left.startNs < right.startNs ? -1 : 1;

const startMsOf = (summary: TraceSummary): number => Number(summary.startNs / 1_000_000n);

const newestFirst = (left: TraceSummary, right: TraceSummary): number =>
  startMsOf(right) - startMsOf(left) || (left.traceRef < right.traceRef ? 1 : -1);

/** A trace store that forgets when the test ends; the same rules as the real one. */
export function createMemoryTraceStore(): TraceStore {
  const traces = new Map<string, StoredTrace>();

  function add(owner: Owner, span: Span): string | null {
    const traceRef = traceRefOf(owner, span.traceId);
    const stored = traces.get(traceRef);
    if (stored?.spans.has(span.spanId)) return null;
    const summary = growSummary(stored?.summary ?? null, { traceId: span.traceId, traceRef, owner }, [span]);
    const spans = stored?.spans ?? new Map<string, Span>();
    spans.set(span.spanId, span);
    traces.set(traceRef, { summary, spans });
    return traceRef;
  }

  return {
    async ingest(batches) {
      const changed = new Set<string>();
      for (const { owner, spans } of batches) {
        for (const span of spans) {
          const ref = add(owner, span);
          if (ref !== null) changed.add(ref);
        }
      }
      return [...changed].flatMap((ref) => traces.get(ref)?.summary ?? []);
    },
    async listSummaries(visibility, { startMs, endMs, after }, limit) {
      return [...traces.values()]
        .map(({ summary }) => summary)
        .filter((summary) => mayRead(visibility, summary.owner))
        .filter((summary) => startMsOf(summary) >= startMs && startMsOf(summary) < endMs)
        .filter(
          (summary) =>
            after === null ||
            startMsOf(summary) < after.startMs ||
            (startMsOf(summary) === after.startMs && summary.traceRef < after.traceRef),
        )
        .toSorted(newestFirst)
        .slice(0, limit);
    },
    async findSummaries(visibility, traceId, traceRef) {
      return [...traces.values()]
        .map(({ summary }) => summary)
        .filter((summary) => summary.traceId === traceId && mayRead(visibility, summary.owner))
        .filter((summary) => traceRef === null || summary.traceRef === traceRef)
        .toSorted(newestFirst);
    },
    async listSpans(keys) {
      const spansOf = (ref: string): readonly Span[] => [...(traces.get(ref)?.spans.values() ?? [])];
      return new Map(keys.map(({ traceRef }) => [traceRef, spansOf(traceRef).toSorted(byStart)]));
    },
    async findSpan(keys, spanId) {
      return keys.flatMap(({ traceRef }) => traces.get(traceRef)?.spans.get(spanId) ?? [])[0] ?? null;
    },
  };
}
