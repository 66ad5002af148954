import type { Selectable } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import type { SpanHead } from '../../domain/traces/span.ts';
import { SPAN_ROW_MEMBERS, sourceOfText } from '../../domain/traces/span-rows.ts';
import type { Tables } from '../database/tables.ts';

export type SpanRow = Selectable<Tables['span']>;

const columnOf = (member: string): string => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns of `SpanRows`, in their order. */
export const SPAN_COLUMNS = SPAN_ROW_MEMBERS.map(columnOf) as readonly (keyof SpanRow)[];

export function spanHeadOf(traceId: string, row: Omit<SpanRow, 'trace_no' | 'payload'>): SpanHead {
  return {
    traceId,
    spanId: row.span_id,
    parentSpanId: row.parent_span_id,
    name: row.name,
    kind: row.kind,
    type: row.type,
    agent: row.agent,
    service: row.service,
    startNs: BigInt(row.start_ns),
    endNs: BigInt(row.end_ns),
    status: row.status,
    error: row.error,
    model: row.model,
    provider: row.provider,
    framework: row.framework ?? '',
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    inputPreview: row.input_preview,
    requestId: row.request_id,
    callId: row.call_id,
    // Rows of earlier versions have no `gateway`. In these rows, a cost implies a span of the gateway.
    gateway: row.gateway === 1 || row.cost !== null,
    ...(row.gateway === 0 ? { cacheUnknown: true } : {}),
    cost: row.cost === null ? null : (BigInt(row.cost) as Usd),
    estimate: row.estimate === null ? null : (BigInt(row.estimate) as Usd),
    source: row.source === null ? null : sourceOfText(row.source),
  };
}
