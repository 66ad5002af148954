import { defineEntity, p } from '@mikro-orm/core';
import type { SpanStatus } from '../../../domain/traces/span.ts';
import { RowNumberType } from '../../column-types/row-number.ts';

/**
 * One row per trace and owner, written and read as rows, never as managed entities: it declares the columns
 * as they are stored. `startMs` is the sort key of lists.
 */
export const TraceSummarySchema = defineEntity({
  name: 'TraceSummaryEntity',
  tableName: 'trace_summary',
  properties: {
    /** What spans name their trace by: counted up, so that what arrives together lies together. */
    traceNo: p.type(RowNumberType).$type<string>().primary().autoincrement(),
    traceId: p.text(),
    /** Names owner and trace id at once; see `trace-ref.ts`. */
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
    /** JSON list of text; empty of traces from before it was kept. */
    frameworks: p.text().nullable(),
    /** Picodollars. */
    estimate: p.bigint('string').nullable(),
    estimatedCalls: p.integer().default(0),
    gatewayCalls: p.integer().default(0),
    /** JSON; see `TraceSource`. */
    source: p.text().nullable(),
    /** The turn of the span that lends its preview, below zero for a root; null where that is the own one of its root. */
    previewNs: p.bigint('string').nullable(),
    /** When its root began. */
    rootNs: p.bigint('string').nullable(),
    /** When its texts were taken out, Unix ms. */
    redactedMs: p.bigint('number').nullable(),
  },
  uniques: [{ properties: ['traceId', 'traceRef'] }],
  indexes: [
    // Read backwards for "newest first": one for all, one per team, one per key without a team. A row is in
    // the first and in one of the others.
    { properties: ['startMs', 'traceRef'] },
    { properties: ['teamId', 'startMs', 'traceRef'], where: `"team_id" <> ''` },
    { properties: ['keyHash', 'startMs', 'traceRef'], where: `"team_id" = ''` },
  ],
});

export class TraceSummaryEntity extends TraceSummarySchema.class {}
TraceSummarySchema.setClass(TraceSummaryEntity);
