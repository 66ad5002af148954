import type { Owner } from '../../domain/caller.ts';
import type { ExportBody, PackedExport } from '../../domain/traces/packed.ts';
import type { Span, SpanBatch } from '../../domain/traces/span.ts';
import { storable } from '../../domain/storable.ts';
import { payloadText, spanRows, type SpanRows, spansOfRows } from '../../domain/traces/span-rows.ts';
import { labelsIn } from '../../domain/traces/trace-labels.ts';
import { type TraceIdentity, tallyOf, type TraceSummary, type TraceTally } from '../../domain/traces/trace.ts';
import type { Weight } from '../database/group-commit.ts';
import { traceRefOf } from './trace-ref.ts';

/** Spans of one trace. A job may have several parts of one trace. */
export interface IngestPart {
  readonly identity: TraceIdentity;
  readonly tally: TraceTally;
  readonly spanIds: readonly string[];
  readonly rows: SpanRows;
}

/** The spans of one export or one call of `ingest`, encoded. */
export interface IngestJob extends Weight {
  readonly parts: readonly IngestPart[];
  /** The body with the payloads; null when the rows have them. */
  readonly body: ExportBody | null;
  /** Whether every span begins a new trace. */
  readonly startsNewTraces: boolean;
}

export function jobOf(
  parts: readonly IngestPart[],
  { body, startsNewTraces }: Pick<IngestJob, 'body' | 'startsNewTraces'>,
): IngestJob {
  const rows = parts.reduce((total, { spanIds }) => total + spanIds.length, 0);
  const bytes = parts.reduce((total, part) => total + part.rows.length, body?.bytes.length ?? 0);
  return { parts, body, startsNewTraces, rows, bytes };
}

/** Identity of a trace. Its id is as the store returns it, so that later spans find the stored trace. */
function identityOf(owner: Owner, sentId: string): TraceIdentity {
  const traceId = storable(sentId);
  return { traceId, traceRef: traceRefOf(owner, traceId), owner };
}

/** Encodes spans with their payloads. Throws InvalidInput for values that no column can store. */
export function jobOfBatches(batches: readonly SpanBatch[]): IngestJob {
  const parts = batches.flatMap(({ owner, spans }) =>
    [...byTrace(spans)].map(([traceId, spansOfTrace]): IngestPart => ({
      identity: identityOf(owner, traceId),
      tally: tallyOf(spansOfTrace),
      spanIds: spansOfTrace.map(({ spanId }) => storable(spanId)),
      rows: spanRows(spansOfTrace.map((head) => ({ head, payload: { kind: 'row', text: payloadText(head) } }))),
    })),
  );
  return jobOf(parts, {
    body: null,
    startsNewTraces: batches.every(({ startsNewTraces }) => startsNewTraces === true),
  });
}

/** The spans of each trace. Of spans with the same id, only the first counts. */
function byTrace(spans: readonly Span[]): ReadonlyMap<string, readonly Span[]> {
  const traces = new Map<string, Map<string, Span>>();
  for (const span of spans) {
    const byId = traces.get(span.traceId) ?? new Map<string, Span>();
    if (!byId.has(span.spanId)) byId.set(span.spanId, span);
    traces.set(span.traceId, byId);
  }
  return new Map([...traces].map(([traceId, byId]) => [traceId, [...byId.values()]]));
}

export function jobOfExport(owner: Owner, { body, traces }: PackedExport): IngestJob {
  const parts = traces.map(({ traceId, tally, spanIds, rows }): IngestPart => {
    return { identity: identityOf(owner, traceId), tally, spanIds, rows };
  });
  return jobOf(parts, { body, startsNewTraces: false });
}

/** The changed summaries of each job. */
export const changedByJob = (
  jobs: readonly IngestJob[],
  changed: ReadonlyMap<string, TraceSummary>,
): readonly (readonly TraceSummary[])[] =>
  jobs.map(({ parts }) => {
    const refs = new Set(parts.map(({ identity }) => identity.traceRef));
    return [...refs].flatMap((ref) => changed.get(ref) ?? []);
  });

/** The new spans of each job; `stored` has span ids by trace ref. A span of several jobs is new in the first job. */
export function newParts(
  jobs: readonly IngestJob[],
  stored: ReadonlyMap<string, ReadonlySet<string>>,
): readonly (readonly IngestPart[])[] {
  // The ids of a trace are a list until the trace occurs a second time, which is rare: a set costs CPU per id.
  const seen = new Map<string, readonly string[] | Set<string>>();
  for (const [traceRef, spanIds] of stored) seen.set(traceRef, new Set(spanIds));
  return jobs.map(({ parts }) =>
    parts.flatMap((part): readonly IngestPart[] => {
      const { traceRef } = part.identity;
      const before = seen.get(traceRef);
      if (before === undefined) {
        seen.set(traceRef, part.spanIds);
        return [part];
      }
      const known = before instanceof Set ? before : new Set(before);
      seen.set(traceRef, known);
      const added = new Set(part.spanIds.filter((spanId) => !known.has(spanId)));
      for (const spanId of added) known.add(spanId);
      if (added.size === 0) return [];
      return [added.size === part.spanIds.length ? part : onlyWith(part, added)];
    }),
  );
}

function onlyWith(part: IngestPart, wanted: ReadonlySet<string>): IngestPart {
  const spans = spansOfRows(part.identity.traceId, part.rows).filter(({ head }) => wanted.has(head.spanId));
  return {
    identity: part.identity,
    // Labels come from the whole part: encoded rows have none.
    tally: { ...tallyOf(spans.map(({ head }) => head)), ...labelsIn(part.tally) },
    spanIds: [...wanted],
    rows: spanRows(spans),
  };
}
