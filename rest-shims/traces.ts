import type { Scope } from '../resolvers/operation/scope.ts';
import { getSpanError } from '../resolvers/spans.ts';
import { listTraceAgents } from '../resolvers/trace-search.ts';
import { getSpan, getTrace, ingestTraces, listTraces, type ReadTrace, type TracePage } from '../resolvers/traces.ts';
import { integerFrom } from '../src/domain/catalog/numbers.ts';
import { InvalidInput, type Issue } from '../src/domain/errors.ts';
import { msBetween, sortedParts } from '../src/domain/traces/assemble-trace.ts';
import type { AgentSpend } from '../src/domain/traces/agents.ts';
import type { CallSpend } from '../src/domain/traces/call-spend.ts';
import { type ContentView, contentViewOf } from '../src/domain/traces/content-view.ts';
import type { Span, SpanHead } from '../src/domain/traces/span.ts';
import type { TraceAgent, TraceIdentity, TraceSummary } from '../src/domain/traces/trace.ts';
import { type AgentActivity, MAX_AGENTS, NO_TRACE_FILTERS } from '../src/domain/traces/trace-search.ts';
import { isTruncated } from '../src/domain/traces/truncate.ts';
import { encodeOtlpSuccess } from '../src/wire/otlp/answer.ts';
import { integer, query, text, textUpTo, INTEGER_FAULTS } from './helpers/http/query.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow, route } from './helpers/http/route.ts';
import { merged, objectSchema } from './helpers/http/schema.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { usdOrNull } from './helpers/answers/limits.ts';

const MAX_CURSOR_LENGTH = 512;
const MAX_PAGE_SPANS = 500;
/** Maximum time of `Date`, in Unix milliseconds. */
const MAX_MS = 8_640_000_000_000_000n;
/** Upload deadline of an export, in ms. It bounds the time for which slow uploads hold memory. */
const UPLOAD_MS = 30_000;

/** Stores the spans of an OTLP export. Answers in the encoding of the request. */
async function ingest(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { 'content-type': contentType, 'content-encoding': contentEncoding } = request.headers;
  await ingestTraces(scope, { bytes: request.body, contentType, contentEncoding });
  const { body, contentType: answerType } = encodeOtlpSuccess(contentType);
  return { body: { kind: 'bytes', bytes: body, contentType: answerType } };
}

const readListQuery = query({ start_ms: text, end_ms: text, cursor: text });
const readWindow = query({ start_ms: text, end_ms: text });
/** Length of the window of agents without a start, in days. */
const AGENT_DAYS = 14;
const readTraceQuery = query({ trace_ref: text });
const readErrorPage = query({ cursor: textUpTo(MAX_CURSOR_LENGTH) });
/**
 * Reads the requested page of spans. `page_size` is 0 when it is absent: the answer has the whole trace, or after a
 * cursor a page of the default size.
 */
const readSpanPage = query({
  cursor: textUpTo(MAX_CURSOR_LENGTH),
  page_size: integer({ min: 1, max: MAX_PAGE_SPANS, defaultValue: 0 }),
});

function parseList({ search }: HttpRequest): Parameters<typeof listTraces>[1] {
  const parameters = readListQuery(search);
  const issues: Issue[] = [];
  const startMs = parseInstant('start_ms', parameters.start_ms, issues);
  const endMs = parseInstant('end_ms', parameters.end_ms, issues);
  if (parameters.cursor !== null && parameters.cursor.length > MAX_CURSOR_LENGTH)
    issues.push({
      rule: 'string_too_long',
      path: ['query', 'cursor'],
      message: `String should have at most ${MAX_CURSOR_LENGTH} characters`,
      input: parameters.cursor,
      context: { max_length: MAX_CURSOR_LENGTH },
    });
  if (issues.length > 0) throw new InvalidInput('The query is not valid.', issues);
  return { startMs, endMs, cursor: nullIfEmpty(parameters.cursor) };
}

function parseAgents({ search }: HttpRequest): Parameters<typeof listTraceAgents>[1] {
  const parameters = readWindow(search);
  const issues: Issue[] = [];
  const startMs = parseInstant('start_ms', parameters.start_ms, issues);
  const endMs = parseInstant('end_ms', parameters.end_ms, issues);
  if (issues.length > 0) throw new InvalidInput('The query is not valid.', issues);
  return { startMs, endMs, filters: NO_TRACE_FILTERS, limit: MAX_AGENTS, days: AGENT_DAYS };
}

/** Unix milliseconds, clamped to the range of Date. */
function clampedMs(ms: bigint): number {
  if (ms > MAX_MS) return Number(MAX_MS);
  return ms < -MAX_MS ? Number(-MAX_MS) : Number(ms);
}

/** Unix milliseconds, clamped to the range of Date; null when absent. Adds an issue for an invalid value. */
function parseInstant(name: string, input: string | null, issues: Issue[]): number | null {
  if (input === null) return null;
  const result = integerFrom(input);
  if ('value' in result) return clampedMs(result.value);
  const { rule, message } = INTEGER_FAULTS[result.fault];
  issues.push({ rule, message, path: ['query', name], input });
  return null;
}

const parseAddress = ({ params, search }: HttpRequest) => ({
  traceId: params['trace_id'] ?? '',
  traceRef: readTraceQuery(search).trace_ref,
});

const parseSpan = (request: HttpRequest) => ({ ...parseAddress(request), spanId: request.params['span_id'] ?? '' });

function parseTrace(request: HttpRequest): Parameters<typeof getTrace>[1] {
  const { cursor, page_size: pageSize } = readSpanPage(request.search);
  return {
    ...parseAddress(request),
    cursor: nullIfEmpty(cursor),
    pageSize: pageSize === 0n ? null : Number(pageSize),
  };
}

/** ISO 8601 time in UTC as Python writes it: with microseconds, or without a fraction for whole seconds. */
function isoTime(ns: bigint): string {
  const micros = (ns / 1_000n) % 1_000_000n;
  const seconds = new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}${micros === 0n ? '' : `.${micros.toString().padStart(6, '0')}`}+00:00`;
}

const summaryJson = (summary: TraceSummary, traceRef: string, durationMs: number) => ({
  trace_id: summary.traceId,
  trace_ref: traceRef,
  name: summary.name,
  service: summary.service,
  input_preview: summary.inputPreview,
  start_time: isoTime(summary.startNs),
  duration_ms: durationMs,
  status: summary.status,
  span_count: summary.spanCount,
  agent_count: summary.agentNames.length,
  agent_invocations: summary.agentInvocations,
  llm_calls: summary.llmCalls,
  tool_calls: summary.toolCalls,
  error_count: summary.errorCount,
  input_tokens: summary.inputTokens,
  output_tokens: summary.outputTokens,
  models: summary.models,
  agent_names: summary.agentNames,
  frameworks: summary.frameworks,
  source: sourceJson(summary.source),
  spend: usdOrNull(summary.spend),
  priced_calls: summary.pricedCalls,
  estimated_calls: summary.estimatedCalls,
});

function sourceJson(source: TraceSummary['source']) {
  if (source === null) return null;
  const { user, ...rest } = source;
  return user === null ? rest : { ...rest, user };
}

const activityJson = ({ name, traces, failed, lastStartMs, frameworks }: AgentActivity) => ({
  name,
  runs: traces,
  failed_runs: failed,
  last_seen: isoTime(BigInt(lastStartMs) * 1_000_000n),
  frameworks,
});

const NO_SPEND: AgentSpend = { spend: null, pricedCalls: 0, estimatedCalls: 0 };

/**
 * Source of the cost of a span; null without a cost. `call` is undefined for a span that is not a model call: its cost
 * comes from the gateway. The HTTP API does not distinguish kinds of estimates.
 */
function costSourceOf({ cost }: SpanHead, call: CallSpend | undefined): 'gateway' | 'estimated' | null {
  if (call === undefined) return cost === null ? null : 'gateway';
  return call.source === 'estimated_upper' ? 'estimated' : call.source;
}

const agentJson = (agent: TraceAgent, { spend, pricedCalls, estimatedCalls }: AgentSpend = NO_SPEND) => ({
  name: agent.name,
  parent_agent: agent.parentAgent,
  invocations: agent.invocations,
  llm_calls: agent.llmCalls,
  tool_calls: agent.namedToolCalls,
  duration_ms: agent.durationMs,
  spend: usdOrNull(spend),
  priced_calls: pricedCalls,
  estimated_calls: estimatedCalls,
});

const spanJson = (span: SpanHead, traceStartNs: bigint, call: CallSpend | undefined) => ({
  span_id: span.spanId,
  parent_span_id: span.parentSpanId,
  name: span.name,
  type: span.type,
  agent: span.agent,
  start_offset_ms: msBetween(traceStartNs, span.startNs),
  duration_ms: msBetween(span.startNs, span.endNs),
  status: span.status,
  error: span.error,
  error_truncated: span.error !== null && isTruncated(span.error),
  input_preview: span.inputPreview,
  model: span.model,
  framework: span.framework,
  input_tokens: span.inputTokens,
  output_tokens: span.outputTokens,
  litellm_request_id: span.requestId,
  // Gateway spans that are not model calls, such as batches, also have a cost.
  spend: usdOrNull(call === undefined ? span.cost : call.cost),
  cost_source: costSourceOf(span, call),
  spend_match: call?.match ?? null,
  spend_log_request_id: call?.row?.id ?? null,
});

/** Content in the form for display. */
function contentJson(view: ContentView) {
  if (view.kind !== 'messages') return view;
  const messages = view.messages.map(({ role, content, name, toolCalls }) => ({
    role,
    content,
    ...(name === null ? {} : { name }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  }));
  return { kind: view.kind, messages };
}

const spanDetailJson = ({ spanId, input, output, attributes }: Span) => ({
  span_id: spanId,
  input,
  output,
  attributes,
  input_ui: contentJson(contentViewOf(input)),
  output_ui: contentJson(contentViewOf(output)),
});

/** A page of traces. Durations are whole milliseconds here, unlike in the answer for one trace. */
const listJson = ({ items, nextCursor }: TracePage) => ({
  data: items.map((item) => summaryJson(item, item.traceRef, Math.round(msBetween(item.startNs, item.endNs)))),
  next_cursor: nextCursor,
});

/** Owners of the parts of a merged trace. As in the reference, absent for other traces. */
const ownersJson = (parts: readonly TraceIdentity[]) =>
  parts.length < 2
    ? {}
    : {
        owners: sortedParts(parts).map(({ traceRef, owner }) => ({
          trace_ref: traceRef,
          team_id: owner.teamId,
          api_key_hash: owner.keyHash,
        })),
      };

/** As in the reference, `trace_ref` of the summary repeats the requested ref. It is empty if the request has none. */
const traceJson = (
  { summary, agents, spans, parts, calls, agentSpend, spendPending, nextCursor }: ReadTrace,
  requestedRef: string,
) => ({
  summary: {
    ...summaryJson(summary, requestedRef, msBetween(summary.startNs, summary.endNs)),
    ...ownersJson(parts),
  },
  agents: agents.map((agent) => agentJson(agent, agentSpend.get(agent.name))),
  spans: spans.map((span) => spanJson(span, summary.startNs, calls.get(span.spanId))),
  next_cursor: nextCursor,
  gateway_spend_pending: spendPending,
});

const WINDOW_SCHEMA = objectSchema({ start_ms: { type: 'integer' }, end_ms: { type: 'integer' } });
const READING = { method: 'GET', surface: 'traces', credential: 'required', bodyLimit: 0 } as const;

/** Ingestion of OTLP exports, and reads of traces and spans. */
export const traceRoutes: readonly RouteRow[] = [
  {
    name: 'traces.ingest',
    method: 'POST',
    paths: ['/v1/traces'],
    surface: 'otlp',
    credential: 'required',
    statuses: [200, 400, 401, 403, 413, 503],
    bodySchema: objectSchema({ resourceSpans: { type: 'array', items: { type: 'object' } } }),
    bodyLimit: 'otlp',
    bodyTimeoutMs: UPLOAD_MS,
    hot: true,
    handle: ingest,
  },
  route({
    ...READING,
    name: 'traces.list',
    querySchema: merged(readListQuery, WINDOW_SCHEMA),
    paths: ['/v1/traces'],
    statuses: [200, 400, 401, 422, 503],
    parse: parseList,
    run: listTraces,
    render: (page) => json(listJson(page)),
  }),
  // Before `traces.get`, whose path would match.
  route({
    ...READING,
    name: 'traces.agents',
    querySchema: WINDOW_SCHEMA,
    paths: ['/v1/traces/agents'],
    statuses: [200, 400, 401, 422, 503],
    parse: parseAgents,
    run: listTraceAgents,
    render: (agents) => json({ agents: agents.map(activityJson) }),
  }),
  route({
    ...READING,
    name: 'traces.get',
    querySchema: merged(readTraceQuery, readSpanPage),
    paths: ['/v1/traces/:trace_id'],
    statuses: [200, 400, 401, 404, 409, 422, 503],
    parse: parseTrace,
    run: getTrace,
    render: (trace, request) => json(traceJson(trace, parseAddress(request).traceRef ?? '')),
  }),
  route({
    ...READING,
    name: 'traces.span',
    querySchema: readTraceQuery.schema,
    paths: ['/v1/traces/:trace_id/spans/:span_id'],
    statuses: [200, 401, 404, 503],
    parse: parseSpan,
    run: getSpan,
    render: (span) => json(spanDetailJson(span)),
  }),
  route({
    ...READING,
    name: 'traces.error',
    querySchema: merged(readTraceQuery, readErrorPage),
    paths: ['/v1/traces/:trace_id/spans/:span_id/error'],
    statuses: [200, 400, 401, 404, 409, 422, 503],
    parse: (request) => ({ ...parseSpan(request), cursor: readErrorPage(request.search).cursor || null }),
    run: getSpanError,
    render: ({ spanId, message, totalCharacters, nextCursor }) =>
      json({ span_id: spanId, message, total_chars: totalCharacters, next_cursor: nextCursor }),
  }),
];
