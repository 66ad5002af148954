import { defineEntity, p } from '@mikro-orm/core';
import type { SpanStatus } from '../../domain/traces/span.ts';

/**
 * One row per trace and owner, written and read as rows, never as managed entities: it declares the columns
 * as they are stored. Times in ns are 20 digits of text, because OTLP's are unsigned 64 bits wide, which no
 * INTEGER holds, and text of one width sorts as the numbers do. `startMs` is the sort key of lists.
 */
export const TraceSummarySchema = defineEntity({
  name: 'TraceSummaryEntity',
  tableName: 'trace_summary',
  properties: {
    traceId: p.text().primary(),
    /** Names owner and trace id at once; see `trace-ref.ts`. */
    traceRef: p.text().primary(),
    teamId: p.text(),
    keyHash: p.text(),
    name: p.text(),
    service: p.text(),
    inputPreview: p.text(),
    startNs: p.text(),
    endNs: p.text(),
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
  },
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
