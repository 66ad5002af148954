import { addUsd } from '../../src/domain/money.ts';
import { tracePassesFilters, traceRankOf } from '../../src/domain/traces/trace-search.ts';
import { createHash } from 'node:crypto';
import { sessionsIn } from './sessions.ts';
import { mayRead, type Owner, type Visibility } from '../../src/domain/caller.ts';
import { payloadOfText, type PayloadPlace, spansOfRows } from '../../src/domain/traces/span-rows.ts';
import type { BodyReader, ExportBody } from '../../src/domain/traces/packed.ts';
import type { Span, SpanBatch, SpanPayload } from '../../src/domain/traces/span.ts';
import { isAfterPosition } from '../../src/domain/traces/span-cursor.ts';
import type { SessionActivity, SessionSearch } from '../../src/domain/traces/sessions.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import { mayRepeatCalls, withCallsCountedOnce } from '../../src/domain/traces/recount.ts';
import { labelsOfSpan, NO_LABELS } from '../../src/domain/traces/trace-labels.ts';
import { growSummary, type TraceSummary } from '../../src/domain/traces/trace.ts';

interface StoredTrace {
  summary: TraceSummary;
  readonly spans: Map<string, Span>;
}

export const traceRefOf = ({ teamId, keyHash }: Owner, traceId: string): string =>
  createHash('sha256')
    .update(`${teamId ?? ''}\0${keyHash}\0${traceId}`)
    .digest('hex')
    .toUpperCase();

function byStart(left: Span, right: Span): number {
  if (left.startNs !== right.startNs) return left.startNs < right.startNs ? -1 : 1;
  return left.spanId < right.spanId ? -1 : 1;
}

const startMsOf = (summary: TraceSummary): number => Number(summary.startNs / 1_000_000n);

const newestFirst = (left: TraceSummary, right: TraceSummary): number =>
  startMsOf(right) - startMsOf(left) || (left.traceRef < right.traceRef ? 1 : -1);

/** Trace store in memory with the rules of the real store. `bodies` reads the bodies of exports. */
export function createMemoryTraceStore(bodies?: BodyReader): TraceStore {
  const traces = new Map<string, StoredTrace>();

  /** Adds a span. Returns the ref of its trace, or null for a span that is stored already. */
  function add(owner: Owner, span: Span): string | null {
    const traceRef = traceRefOf(owner, span.traceId);
    const stored = traces.get(traceRef);
    if (stored?.spans.has(span.spanId)) return null;
    const summary = growSummary(stored?.summary ?? null, { traceId: span.traceId, traceRef, owner }, [span]);
    const spans = stored?.spans ?? new Map<string, Span>();
    const { labels: _labels, ...storedSpan } = span;
    spans.set(span.spanId, storedSpan);
    const mayRepeat = mayRepeatCalls(summary);
    traces.set(traceRef, { summary: mayRepeat ? withCallsCountedOnce(summary, [...spans.values()]) : summary, spans });
    return traceRef;
  }

  async function ingest(batches: readonly SpanBatch[]): Promise<readonly TraceSummary[]> {
    const changed = new Set<string>();
    for (const { owner, spans } of batches) {
      for (const span of spans) {
        const ref = add(owner, span);
        if (ref !== null) changed.add(ref);
      }
    }
    return [...changed].flatMap((ref) => traces.get(ref)?.summary ?? []);
  }

  function payloadOf(body: ExportBody, payload: PayloadPlace, owner: Owner): SpanPayload | Promise<SpanPayload> {
    if (payload.kind === 'row') return payloadOfText(payload.text);
    if (bodies === undefined) throw new Error('This store has no reader of bodies.');
    return bodies.payloads(body, [payload.at], owner).then(([read]) => {
      if (read === undefined) throw new Error('A span has no payload in its body.');
      return read;
    });
  }

  function sessionsOf(visibility: Visibility, { startMs, endMs, filters }: SessionSearch): readonly SessionActivity[] {
    const found = [...traces.values()]
      .map(({ summary }) => summary)
      .filter((summary) => summary.sessionId !== null && mayRead(visibility, summary.owner))
      .filter((summary) => tracePassesFilters(summary, filters))
      .filter((summary) => startMsOf(summary) >= startMs && startMsOf(summary) < endMs);
    return sessionsIn(found);
  }

  return {
    ingest,
    async ingestExport(owner, read) {
      const { body, traces: packed } = await read;
      const storedSpans = packed.flatMap(({ traceId, rows }) => spansOfRows(traceId, rows));
      const spans = storedSpans.map(async ({ head, payload }) => {
        const span = { ...head, ...(await payloadOf(body, payload, owner)) };
        const labels = labelsOfSpan(span, head.type);
        return labels === undefined ? span : { ...span, labels };
      });
      return ingest([{ owner, spans: await Promise.all(spans) }]);
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
    async searchSummaries(visibility, { startMs, endMs, filters, order, after }, limit) {
      const found = [...traces.values()]
        .map(({ summary }) => summary)
        .filter((summary) => mayRead(visibility, summary.owner) && tracePassesFilters(summary, filters))
        .filter((summary) => startMsOf(summary) >= startMs && startMsOf(summary) < endMs)
        .map((summary) => ({ summary, rank: traceRankOf(summary, order) }))
        .filter(
          ({ summary: { traceRef }, rank }) =>
            after === null || rank < after.rank || (rank === after.rank && traceRef < after.traceRef),
        );
      const greatestFirst = found.toSorted((left, right) => {
        if (left.rank !== right.rank) return left.rank < right.rank ? 1 : -1;
        return left.summary.traceRef < right.summary.traceRef ? 1 : -1;
      });
      return greatestFirst.slice(0, limit).map(({ summary }) => summary);
    },
    async series(visibility, { startMs, endMs, bucketMs, filters }) {
      const found = [...traces.values()]
        .map(({ summary }) => summary)
        .filter((summary) => mayRead(visibility, summary.owner) && tracePassesFilters(summary, filters))
        .filter((summary) => startMsOf(summary) >= startMs && startMsOf(summary) < endMs);
      const byBucket = Map.groupBy(found, (summary) => Math.floor((startMsOf(summary) - startMs) / bucketMs));
      return [...byBucket]
        .toSorted(([left], [right]) => left - right)
        .map(([index, some]) => {
          const durations = some
            .map((summary) => traceRankOf(summary, 'duration'))
            .toSorted((a, b) => (a < b ? -1 : 1));
          const quantile = (percent: number): bigint =>
            durations[Math.ceil((durations.length * percent) / 100) - 1] ?? 0n;
          const total = (countOf: (summary: TraceSummary) => number): number =>
            some.reduce((sum, summary) => sum + countOf(summary), 0);
          const spends = some.flatMap(({ spend }) => spend ?? []);
          return {
            startMs: startMs + index * bucketMs,
            traces: some.length,
            failed: some.filter(({ errorCount }) => errorCount > 0).length,
            spans: total(({ spanCount }) => spanCount),
            llmCalls: total(({ llmCalls }) => llmCalls),
            inputTokens: total(({ inputTokens }) => inputTokens),
            outputTokens: total(({ outputTokens }) => outputTokens),
            spend: spends.length === 0 ? null : spends.reduce(addUsd),
            p50Ns: quantile(50),
            p90Ns: quantile(90),
            p99Ns: quantile(99),
          };
        });
    },
    async agents(visibility, { startMs, endMs, filters }, limit) {
      const named = [...traces.values()]
        .map(({ summary }) => summary)
        .filter((summary) => mayRead(visibility, summary.owner) && tracePassesFilters(summary, filters))
        .filter((summary) => startMsOf(summary) >= startMs && startMsOf(summary) < endMs)
        .flatMap((summary) => summary.agentNames.map((name) => ({ name, summary })));
      return [...Map.groupBy(named, ({ name }) => name)]
        .map(([name, some]) => ({
          name,
          traces: some.length,
          failed: some.filter(({ summary }) => summary.errorCount > 0).length,
          lastStartMs: Math.max(...some.map(({ summary }) => startMsOf(summary))),
          frameworks: [...new Set(some.flatMap(({ summary }) => summary.frameworks))].toSorted(),
        }))
        .toSorted((left, right) => right.lastStartMs - left.lastStartMs || (left.name < right.name ? -1 : 1))
        .slice(0, limit);
    },
    async sessions(visibility, search, limit) {
      return sessionsOf(visibility, search)
        .filter(
          ({ lastStartMs, sessionId }) =>
            search.after === null ||
            lastStartMs < search.after.lastStartMs ||
            (lastStartMs === search.after.lastStartMs && sessionId < search.after.sessionId),
        )
        .slice(0, limit);
    },
    countSessions: async (visibility, search) => sessionsOf(visibility, search).length,
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
    async listSpanPage({ traceRef }, after, limit) {
      const spans = [...(traces.get(traceRef)?.spans.values() ?? [])].toSorted(byStart);
      return spans.filter((span) => after === null || isAfterPosition(span, after)).slice(0, limit);
    },
    async findSpan(keys, spanId) {
      return keys.flatMap(({ traceRef }) => traces.get(traceRef)?.spans.get(spanId) ?? [])[0] ?? null;
    },
    async findSpans({ traceRef }, spanIds) {
      return spanIds.flatMap((spanId) => traces.get(traceRef)?.spans.get(spanId) ?? []);
    },
    async removeStartedBefore(beforeMs, most) {
      const old = [...traces.values()]
        .map(({ summary }) => summary)
        .filter((summary) => startMsOf(summary) < beforeMs)
        .toSorted(newestFirst)
        .toReversed()
        .slice(0, most);
      for (const { traceRef } of old) traces.delete(traceRef);
      return old.length;
    },
    remove: async (keys) => keys.filter(({ traceRef }) => traces.delete(traceRef)).length,
    async redact(keys, at) {
      const nothing = { input: '', output: '', attributes: {}, resourceAttributes: {}, events: [], links: [] };
      return keys.flatMap(({ traceRef }) => {
        const stored = traces.get(traceRef);
        if (stored === undefined) return [];
        for (const [id, span] of stored.spans)
          stored.spans.set(id, { ...span, ...nothing, inputPreview: '', error: null, source: null });
        stored.summary = { ...stored.summary, inputPreview: '', source: null, redactedAt: at, ...NO_LABELS };
        return [stored.summary];
      });
    },
  };
}
