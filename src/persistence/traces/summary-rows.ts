import type { Selectable } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import { sourceOfText, sourceText } from '../../domain/traces/span-rows.ts';
import { addTally, tallyOf, type TraceIdentity, type TraceSummary } from '../../domain/traces/trace.ts';
import { ownerColumns, ownerOfColumns } from '../database/owner-columns.ts';
import type { Tables } from '../database/tables.ts';
import { amountText, nsText, storable } from '../../domain/storable.ts';

export type SummaryRow = Selectable<Tables['trace_summary']>;
/** A row without its number, which the database assigns. */
export type NewSummaryRow = Omit<SummaryRow, 'trace_no'>;

const NS_PER_MS = 1_000_000n;

/** Distinct storable names as a JSON list: PostgreSQL fails on escapes such as `\u0000` when it parses the list. */
export const namesText = (names: readonly string[]): string => JSON.stringify([...new Set(names.map(storable))]);

export function summaryRowOf(summary: TraceSummary): NewSummaryRow {
  return {
    trace_id: storable(summary.traceId),
    trace_ref: summary.traceRef,
    ...ownerColumns(summary.owner),
    name: storable(summary.name),
    service: storable(summary.service),
    input_preview: storable(summary.inputPreview),
    preview_ns: summary.previewNs === null ? null : summary.previewNs.toString(),
    root_ns: summary.rootNs === null ? null : nsText(summary.rootNs),
    start_ns: nsText(summary.startNs),
    end_ns: nsText(summary.endNs),
    start_ms: Number(summary.startNs / NS_PER_MS),
    status: summary.status,
    span_count: summary.spanCount,
    agent_names: namesText(summary.agentNames),
    agent_invocations: summary.agentInvocations,
    llm_calls: summary.llmCalls,
    gateway_calls: summary.gatewayCalls,
    tool_calls: summary.toolCalls,
    error_count: summary.errorCount,
    input_tokens: summary.inputTokens,
    output_tokens: summary.outputTokens,
    models: namesText(summary.models),
    spend: summary.spend === null ? null : amountText(summary.spend),
    priced_calls: summary.pricedCalls,
    frameworks: namesText(summary.frameworks),
    estimate: summary.estimate === null ? null : amountText(summary.estimate),
    estimated_calls: summary.estimatedCalls,
    source: summary.source === null ? null : sourceText(summary.source),
    redacted_ms: summary.redactedAt?.getTime() ?? null,
    session_id: summary.sessionId === null ? null : storable(summary.sessionId),
    user_id: summary.userId === null ? null : storable(summary.userId),
    tags: summary.tags.length === 0 ? null : namesText(summary.tags),
    root_labels: summary.rootLabels,
  };
}

export function summaryOf(row: NewSummaryRow): TraceSummary {
  return {
    traceId: row.trace_id,
    traceRef: row.trace_ref,
    owner: ownerOfColumns(row),
    name: row.name,
    service: row.service,
    inputPreview: row.input_preview,
    previewNs: row.preview_ns === null ? null : BigInt(row.preview_ns),
    rootNs: row.root_ns === null ? null : BigInt(row.root_ns),
    startNs: BigInt(row.start_ns),
    endNs: BigInt(row.end_ns),
    status: row.status,
    spanCount: row.span_count,
    agentNames: JSON.parse(row.agent_names) as readonly string[],
    agentInvocations: row.agent_invocations,
    llmCalls: row.llm_calls,
    gatewayCalls: row.gateway_calls,
    toolCalls: row.tool_calls,
    errorCount: row.error_count,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    models: JSON.parse(row.models) as readonly string[],
    spend: row.spend === null ? null : (BigInt(row.spend) as Usd),
    pricedCalls: row.priced_calls,
    frameworks: JSON.parse(row.frameworks ?? '[]') as readonly string[],
    estimate: row.estimate === null ? null : (BigInt(row.estimate) as Usd),
    estimatedCalls: row.estimated_calls,
    source: row.source === null ? null : sourceOfText(row.source),
    redactedAt: row.redacted_ms === null ? null : new Date(row.redacted_ms),
    sessionId: row.session_id,
    userId: row.user_id,
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as readonly string[]),
    rootLabels: row.root_labels,
  };
}

/**
 * Row of a trace without spans. On PostgreSQL, an ingest locks this row until its commit replaces it. ClickHouse uses
 * such rows as the deleted rows of `trace_by_start`.
 */
export const emptySummaryRow = (identity: TraceIdentity): NewSummaryRow =>
  summaryRowOf(addTally(null, identity, tallyOf([])));
