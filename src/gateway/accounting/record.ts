import { isJsonObject } from '../../domain/json-object.ts';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Outcome, ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { labelsOfCall, spendLabels } from '../../domain/calls/spend-labels.ts';
import { DomainError } from '../../domain/errors.ts';
import type { GuardrailMode } from '../../domain/guardrails/definition.ts';
import type { GuardrailEntry } from '../../domain/guardrails/entry.ts';
import type { ActiveGuardrail } from '../../domain/guardrails/guardrail.ts';
import type { Endpoint } from '../../domain/inference/endpoint.ts';
import { GEN_AI, GEN_AI_OPERATIONS } from '../../domain/traces/conventions/gen-ai-attributes.ts';
import type { Usd } from '../../domain/money.ts';
import type { SeenTool } from '../../domain/tools/tool-use.ts';
import type { Span, SpanType } from '../../domain/traces/span.ts';
import { MAX_VALUE_BYTES, truncateUnits, truncateConversation, truncateText } from '../../domain/traces/truncate.ts';

/** Maximum characters of the input preview of a span. */
const PREVIEW_LIMIT = 240;
/** Maximum bytes of a span name. It contains the model name, which callers of a wildcard deployment choose. */
const NAME_BYTES = 512;
const SERVICE = 'lensgate';
/** Shared object, so that writers can cache its encoding by identity. */
const RESOURCE: Span['resourceAttributes'] = { 'service.name': SERVICE };
const NO_EVENTS: Span['events'] = Object.freeze([]);
const NO_LINKS: Span['links'] = Object.freeze([]);
const CALL_ID = 'litellm.call_id';
const RESEND_COUNT = 'http.request.resend_count';
const CACHE_HIT = 'litellm.cache_hit';
const CACHE_KEY = 'litellm.cache_key';
const NS_PER_MS = 1e6;

/** Parts of a request that are recorded: a model call, or a call about a stored object. */
export interface RecordedRequest extends Pick<
  ModelRequest,
  'model' | 'answerModel' | 'body' | 'callId' | 'parent' | 'labels' | 'userAgent' | 'omitContent' | 'routing'
> {
  readonly endpoint: Pick<Endpoint, 'callType' | 'outputs'> & {
    readonly operation: string;
    /** Absent for a call to no model endpoint. */
    readonly path?: Endpoint['path'];
    /** Absent for endpoints without a prompt. */
    readonly input?: Endpoint['input'];
  };
  /** The tool of an MCP server that the call is for; absent for other calls. */
  readonly calledTool?: SeenTool;
}

/** Guardrails of a call and their runs, for its record. */
export interface RecordedGuardrails {
  /** Names of the guardrails. */
  readonly applied: readonly string[];
  /** Runs of the guardrails. */
  readonly entries: readonly GuardrailEntry[];
  /** Guardrails of a mode. */
  of(mode: GuardrailMode): readonly ActiveGuardrail[];
  /** Whether all guardrails have checked the request before the call. */
  isRequestChecked(): boolean;
}

/** Facts of a call at the close of its account. */
export interface ClosedCall {
  readonly rowId: string;
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly caller: Caller;
  readonly request: RecordedRequest;
  readonly deployment: Deployment;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Milliseconds from the start to the first response byte; null without one. */
  readonly firstByteMs: number | null;
  readonly outcome: Outcome | null;
  readonly cost: Usd | null;
  readonly end: 'completed' | 'failed' | 'abandoned';
  readonly failure: Error | null;
  readonly capturePrompts: boolean;
  /** Number of retries and fallbacks. */
  readonly resendCount: number;
  /** Null for a call without guardrails. */
  readonly guard: RecordedGuardrails | null;
  /** Budget windows that the call counts in; undefined for none. */
  readonly windows: SpendRow['windows'] | undefined;
}

/** The spend row and the span of a call. */
export function recordOf(call: ClosedCall): CallRecord {
  const { caller, request, deployment, outcome, cost, startedAt } = call;
  const { endpoint } = request;
  const error = errorOf(call);
  const usage = outcome?.usage ?? null;
  const input = call.capturePrompts ? inputText(request) : '';
  const startMs = startedAt.getTime();
  const startNs = BigInt(startMs) * 1_000_000n;
  // Computed without the start: a double cannot hold a Unix time in nanoseconds exactly.
  const durationNs = Math.round(call.durationMs * NS_PER_MS);
  const labelFields = spendLabels(request.labels, request.userAgent);
  const labels = request.labels === undefined ? undefined : labelsOfCall(labelFields);
  const spend: SpendRow = {
    id: call.rowId,
    callId: call.callId,
    responseId: responseIdOf(call),
    callType: endpoint.callType,
    keyHash: caller.keyHash,
    teamId: caller.teamId,
    userId: caller.userId,
    endUser: labelFields.endUser,
    sessionId: labelFields.sessionId,
    tags: labelFields.tags,
    modelGroup: request.model,
    model: deployment.upstreamModel,
    deploymentId: deployment.id,
    provider: deployment.provider,
    usage,
    cost,
    status: error === null ? 'success' : 'failure',
    startedAt,
    endedAt: new Date(startMs + Math.floor(durationNs / NS_PER_MS)),
    firstByteAt: call.firstByteMs === null ? null : new Date(startMs + call.firstByteMs),
    traceId: call.traceId,
    spanId: call.spanId,
    error,
  };
  const span: Span = {
    traceId: call.traceId,
    spanId: call.spanId,
    parentSpanId: request.parent?.spanId ?? null,
    name: truncateText(`${endpoint.operation} ${request.model}`.trimEnd(), NAME_BYTES),
    kind: 'CLIENT',
    type: typeOf(endpoint.operation),
    agent: '',
    service: SERVICE,
    startNs,
    endNs: startNs + BigInt(durationNs),
    status: error === null ? 'ok' : 'error',
    error: error?.message ?? null,
    model: outcome?.responseModel ?? deployment.upstreamModel,
    provider: deployment.provider,
    framework: '',
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    inputPreview: call.capturePrompts ? preview(request) : '',
    requestId: outcome?.responseId ?? null,
    callId: null,
    gateway: true,
    cost,
    estimate: null,
    source: null,
    input,
    output: call.capturePrompts ? truncateText(outcome?.text ?? '', MAX_VALUE_BYTES) : '',
    attributes: attributesOf(call, error?.code ?? null),
    resourceAttributes: RESOURCE,
    events: NO_EVENTS,
    links: NO_LINKS,
  };
  return {
    spend: withExtras(spend, call),
    span: labels === undefined ? span : { ...span, labels },
  };
}

/** Id of the answer. That of a cached answer has a suffix with the start of the call, in seconds of Unix time. */
function responseIdOf({ callId, outcome, startedAt }: ClosedCall): string | null {
  if (outcome === null) return null;
  if (outcome.cacheHitKey === undefined) return outcome.responseId;
  return `${outcome.responseId ?? callId}_cache_hit${startedAt.getTime() / 1_000}`;
}

/**
 * A spend row with the budget windows, cache key, guardrail runs and routing decision of its call. The same object for
 * a call with none of them.
 */
function withExtras(row: SpendRow, { windows, guard, outcome, request: { routing } }: ClosedCall): SpendRow {
  const cacheHitKey = outcome?.cacheHitKey;
  const cached = cacheHitKey === undefined ? row : { ...row, cacheHitKey };
  const spend = routing === undefined ? cached : { ...cached, routing };
  const counted = windows === undefined ? spend : { ...spend, windows };
  return guard === null || guard.entries.length === 0 ? counted : { ...counted, guardrails: guard.entries };
}

/** Span type of an operation; `framework` for operations outside the conventions. */
function typeOf(operation: string): SpanType {
  const types: Readonly<Record<string, SpanType>> = GEN_AI_OPERATIONS;
  return Object.hasOwn(types, operation) ? (types[operation] ?? 'framework') : 'framework';
}

/** Error of a call; null for success. The message is safe to show to callers. */
function errorOf({ end, failure, outcome }: ClosedCall): { readonly code: string; readonly message: string } | null {
  if (end === 'completed') {
    // A complete answer can still report that the model failed.
    const reported = outcome?.failure ?? null;
    return reported === null ? null : { code: 'UPSTREAM_FAILED', message: reported.message };
  }
  if (end === 'abandoned') return { code: 'CLIENT_GONE', message: 'The caller left before the answer was complete.' };
  if (failure instanceof DomainError) return { code: failure.code, message: failure.message };
  return { code: 'INTERNAL', message: 'Internal error.' };
}

function attributesOf(call: ClosedCall, errorType: string | null): Record<string, string> {
  const { outcome, deployment, request } = call;
  const attributes: Record<string, string> = {
    [GEN_AI.operationName]: request.endpoint.operation,
    [GEN_AI.providerName]: deployment.provider,
    [GEN_AI.requestModel]: request.model,
    [CALL_ID]: call.callId,
  };
  Object.assign(attributes, request.labels);
  if (request.endpoint.outputs) attributes[GEN_AI.outputType] = request.endpoint.outputs;
  if (outcome?.responseModel) attributes[GEN_AI.responseModel] = outcome.responseModel;
  if (outcome?.responseId) attributes[GEN_AI.responseId] = outcome.responseId;
  if (outcome?.finishReason) attributes[GEN_AI.finishReasons] = JSON.stringify([outcome.finishReason]);
  if (outcome?.usage) {
    attributes[GEN_AI.inputTokens] = String(outcome.usage.inputTokens);
    attributes[GEN_AI.outputTokens] = String(outcome.usage.outputTokens);
  }
  if (outcome?.usage?.audio) {
    attributes[GEN_AI.inputAudioTokens] = String(outcome.usage.audio.inputTokens);
    attributes[GEN_AI.outputAudioTokens] = String(outcome.usage.audio.outputTokens);
  }
  if (outcome?.cacheHitKey !== undefined) {
    attributes[CACHE_HIT] = 'true';
    attributes[CACHE_KEY] = outcome.cacheHitKey;
  }
  if (call.resendCount > 0) attributes[RESEND_COUNT] = String(call.resendCount);
  if (errorType !== null) attributes[GEN_AI.errorType] = errorType;
  return attributes;
}

const promptOf = ({ body, endpoint: { input } }: RecordedRequest): unknown =>
  input === undefined ? '' : body[input.member];

function inputText(request: RecordedRequest): string {
  const prompt = promptOf(request);
  return typeof prompt === 'string'
    ? truncateText(prompt, MAX_VALUE_BYTES)
    : truncateConversation(JSON.stringify(prompt ?? []), MAX_VALUE_BYTES);
}

/** Start of the last message or text. An array of numbers is one text as token ids. */
function preview(request: RecordedRequest): string {
  const prompt = promptOf(request);
  const last: unknown = Array.isArray(prompt) && typeof prompt.at(-1) !== 'number' ? prompt.at(-1) : prompt;
  const content: unknown = (isMessage(last) ? last.content : last) ?? '';
  return truncateUnits(typeof content === 'string' ? content : JSON.stringify(content), PREVIEW_LIMIT);
}

const isMessage = (value: unknown): value is { readonly content?: unknown } => isJsonObject(value);
