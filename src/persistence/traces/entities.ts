import { defineEntity, p } from '@mikro-orm/core';
import type { ExportBody } from '../../domain/traces/packed.ts';
import type { SpanKind, SpanStatus, SpanType } from '../../domain/traces/span.ts';
import { RowNumberType } from '../column-types/row-number.ts';

/** One row per trace and owner. Not a managed entity. `startMs` is the sort key of lists. */
export const TraceSummaryEntity = defineEntity({
  name: 'TraceSummaryEntity',
  tableName: 'trace_summary',
  properties: {
    /** Row number, to which spans refer. It increases, so that spans that arrive together are adjacent. */
    traceNo: p.type(RowNumberType).$type<string>().primary().autoincrement(),
    traceId: p.text(),
    /** Owner and trace id as one handle; see `trace-ref.ts`. */
    traceRef: p.text(),
    teamId: p.text(),
    keyHash: p.text(),
    name: p.text(),
    service: p.text(),
    inputPreview: p.text(),
    startNs: p.bigint('string'),
    endNs: p.bigint('string'),
    startMs: p.bigint('number'),
    status: p.text().$type<SpanStatus>(),
    spanCount: p.integer(),
    /** JSON list of text. */
    agentNames: p.text(),
    agentInvocations: p.integer(),
    llmCalls: p.integer(),
    toolCalls: p.integer(),
    errorCount: p.integer(),
    inputTokens: p.bigint('number'),
    outputTokens: p.bigint('number'),
    /** JSON list of text. */
    models: p.text(),
    /** Picodollars. */
    spend: p.bigint('string').nullable(),
    pricedCalls: p.integer(),
    /** JSON list of text; null in rows of earlier versions. */
    frameworks: p.text().nullable(),
    /** Picodollars. */
    estimate: p.bigint('string').nullable(),
    estimatedCalls: p.integer().default(0),
    gatewayCalls: p.integer().default(0),
    /** JSON; see `TraceSource`. */
    source: p.text().nullable(),
    /**
     * Rank of the preview (`previewRankOf`), negative for the preview of a root. Null without a preview, and when the
     * preview is that of the root with the start `rootNs`.
     */
    previewNs: p.bigint('string').nullable(),
    /** Start of the root span, Unix ns; null without a root. */
    rootNs: p.bigint('string').nullable(),
    /** Time of redaction, Unix ms; null for none. */
    redactedMs: p.bigint('number').nullable(),
    sessionId: p.text().nullable(),
    userId: p.text().nullable(),
    /** JSON list of text; null for none. */
    tags: p.text().nullable(),
    /** Bits; see `StatedLabels`. */
    rootLabels: p.integer().default(0),
  },
  uniques: [{ properties: ['traceId', 'traceRef'] }],
  indexes: [
    // For "newest first": all traces, the traces of a team, the traces of a key without a team. A row is in the first
    // index and in one of the next two.
    { properties: ['startMs', 'traceRef'] },
    { properties: ['teamId', 'startMs', 'traceRef'], where: `"team_id" <> ''` },
    { properties: ['keyHash', 'startMs', 'traceRef'], where: `"team_id" = ''` },
    { properties: ['sessionId', 'startMs'], where: '"session_id" is not null' },
  ],
});

/** Body of an export, or of the calls of a segment, compressed. Stored once for all its spans. Not a managed entity. */
export const ExportBodyEntity = defineEntity({
  name: 'ExportBodyEntity',
  tableName: 'export_body',
  properties: {
    bodyNo: p.type(RowNumberType).$type<string>().primary().autoincrement(),
    format: p.text().$type<ExportBody['format']>(),
    compression: p.text().$type<ExportBody['compression']>(),
    /** Number of stored spans whose payload the body contains. The body is deleted with the last of these spans. */
    heldBy: p.integer(),
    bytes: p.blob(),
    /** Span block of the export (`span-blocks/README.md`): the `SpanRows` of some of its traces, concatenated. */
    heads: p.blob().nullable(),
  },
});

/**
 * Head of a span, for lists and trees. The payload is in a body, or in the last column for a span without body. Many
 * spans are in blocks instead of rows (`span-blocks/README.md`). Not a managed entity.
 */
export const SpanEntity = defineEntity({
  name: 'SpanEntity',
  tableName: 'span',
  properties: {
    /** Number of the trace. Rows of one trace are adjacent, and new traces are appended. */
    traceNo: p.bigint('string').primary(),
    spanId: p.text().primary(),
    parentSpanId: p.text().nullable(),
    name: p.text(),
    kind: p.text().$type<SpanKind>(),
    type: p.text().$type<SpanType>(),
    agent: p.text(),
    service: p.text(),
    startNs: p.bigint('string'),
    endNs: p.bigint('string'),
    status: p.text().$type<SpanStatus>(),
    error: p.text().nullable(),
    model: p.text().nullable(),
    inputTokens: p.bigint('number'),
    outputTokens: p.bigint('number'),
    inputPreview: p.text(),
    requestId: p.text().nullable(),
    /** Picodollars. */
    cost: p.bigint('string').nullable(),
    /** Null when unknown, and in rows of earlier versions. */
    provider: p.text().nullable(),
    framework: p.text().nullable(),
    callId: p.text().nullable(),
    /**
     * 1 for a span of the gateway, 0 for a client's call with unknown cached tokens, null for others and in rows of
     * earlier versions.
     */
    gateway: p.integer().nullable(),
    /** JSON; see `TraceSource`. */
    source: p.text().nullable(),
    /** Picodollars. */
    estimate: p.bigint('string').nullable(),
    /** Body with the payload, and place of the span in this body; both null for a payload in the row. */
    bodyNo: p.bigint('string').nullable(),
    bodyAt: p.integer().nullable(),
    /** JSON text; null when a body contains it. Last column, so that reads of heads do not reach overflow pages. */
    payload: p.text().nullable(),
  },
});
