import { defineEntity, p } from '@mikro-orm/core';
import type { SpanStatus } from '../../../domain/traces/span.ts';
import { RowNumberType } from '../../column-types/row-number.ts';

/** One row per trace and owner. Rows only: never used as a managed entity. `startMs` is the sort key of lists. */
export const TraceSummaryEntity = defineEntity({
  name: 'TraceSummaryEntity',
  tableName: 'trace_summary',
  properties: {
    /** Spans refer to it. It counts up, so that spans that arrive together are adjacent. */
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
    /** Turn of the span with the preview (`turnOf`), negative for a root; null when its own root has it. */
    previewNs: p.bigint('string').nullable(),
    /** Start of its root. */
    rootNs: p.bigint('string').nullable(),
    /** Time of redaction, Unix ms. */
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
    // For "newest first": one index for all, one per team, one per key without a team. A row is in the first and in one
    // of the others.
    { properties: ['startMs', 'traceRef'] },
    { properties: ['teamId', 'startMs', 'traceRef'], where: `"team_id" <> ''` },
    { properties: ['keyHash', 'startMs', 'traceRef'], where: `"team_id" = ''` },
    { properties: ['sessionId', 'startMs'], where: '"session_id" is not null' },
  ],
});
