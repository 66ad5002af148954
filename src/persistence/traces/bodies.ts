import type { BodyReader, ExportBody } from '../../domain/traces/packed.ts';
import { payloadOfText } from '../../domain/traces/span-rows.ts';
import type { Span, SpanPayload } from '../../domain/traces/span.ts';
import { ownerOfColumns } from '../database/owner-columns.ts';
import type { IngestPart } from './ingest-jobs.ts';
import { spanHeadOf, type SpanRow } from './span-rows.ts';
import type { SummaryRow } from './summary-rows.ts';

/** Throws if the store was opened without a reader of bodies. */
export function readerOf(bodies: BodyReader | undefined): BodyReader {
  if (bodies === undefined) throw new Error('The store was opened without a reader of bodies.');
  return bodies;
}

/**
 * The body without the traces that have no new span. No stored span of these traces refers to this body, so that a
 * later removal of such a trace would not find it.
 */
export async function bodyOfNew(
  bodies: BodyReader | undefined,
  { body, sent, fresh }: Readonly<Record<'sent' | 'fresh', readonly IngestPart[]>> & { readonly body: ExportBody },
): Promise<ExportBody> {
  /** Traces with at least one new span. They may have been stored before. */
  const changedTraceIds = new Set(fresh.map(({ identity }) => identity.traceId));
  const unchangedTraceIds = sent.flatMap(({ identity: { traceId } }) =>
    changedTraceIds.has(traceId) ? [] : [traceId],
  );
  return unchangedTraceIds.length === 0 ? body : readerOf(bodies).without(body, unchangedTraceIds);
}

/** A span with its trace and owner. */
export type OwnedSpan = SpanRow & Pick<SummaryRow, 'trace_id' | 'team_id' | 'key_hash'>;

/** The spans with their payloads. Each body is opened once. Spans whose payload is missing are left out. */
export async function withBodyPayloads<Found extends OwnedSpan>(
  bodies: BodyReader | undefined,
  found: readonly Found[],
  {
    bodyIdOf,
    bodyOf,
  }: {
    readonly bodyIdOf: (span: Found) => string | null;
    /** The body of these spans; null when it was removed meanwhile. */
    readonly bodyOf: (spans: readonly [Found, ...Found[]]) => ExportBody | null | Promise<ExportBody | null>;
  },
): Promise<readonly Span[]> {
  const payloads = new Map<Found, SpanPayload>();
  const inBodies = found.filter(
    (span): span is Found & { readonly body_at: number } => span.payload === null && span.body_at !== null,
  );
  for (const [first, ...others] of Map.groupBy(inBodies, bodyIdOf).values()) {
    if (first === undefined) continue;
    const spans = [first, ...others] as const;
    const body = await bodyOf(spans);
    if (body === null) continue;
    const places = spans.map(({ body_at: at }) => at);
    const read = await readerOf(bodies).payloads(body, places, ownerOfColumns(first));
    for (const [position, span] of spans.entries())
      if (read[position] !== undefined) payloads.set(span, read[position]);
  }
  return found.flatMap((span) => {
    const payload = span.payload === null ? payloads.get(span) : payloadOfText(span.payload);
    return payload === undefined ? [] : [{ ...spanHeadOf(span.trace_id, span), ...payload }];
  });
}
