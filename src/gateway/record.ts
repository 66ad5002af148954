import type { CallRecord } from '../domain/calls/call-record.ts';
import type { Caller } from '../domain/caller.ts';
import type { Outcome, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { DomainError } from '../domain/errors.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import { GEN_AI, GEN_AI_OPERATIONS } from '../domain/traces/conventions/gen-ai-attributes.ts';
import type { Usd } from '../domain/money.ts';
import type { Span, SpanType } from '../domain/traces/span.ts';
import { MAX_VALUE_BYTES, startOf, truncateConversation, truncateText } from '../domain/traces/truncate.ts';

/** Characters of the input that a list of spans shows. */
const PREVIEW_LIMIT = 240;
/** A wildcard deployment answers to any name a caller makes up. */
const NAME_BYTES = 512;
const SERVICE = 'lensgate';
/** One object for all: whoever writes it out need not look into it again. */
const RESOURCE: Span['resourceAttributes'] = { 'service.name': SERVICE };
const CALL_ID = 'litellm.call_id';
const SENT_ON = 'http.request.resend_count';
const NS_PER_MS = 1e6;

/** What the books say of a request: one to a model, or about something an upstream keeps. */
export interface Accounted extends Pick<ModelRequest, 'model' | 'body' | 'callId' | 'parent' | 'labels' | 'unkept'> {
  readonly endpoint: Pick<Endpoint, 'callType' | 'outputs'> & {
    readonly operation: string;
    /** Absent where nothing is asked. */
    readonly asks?: Endpoint['asks'];
  };
}

/** Everything known of a call when its books are closed. */
export interface ClosedCall {
  readonly rowId: string;
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly caller: Caller;
  readonly request: Accounted;
  readonly deployment: Deployment;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Milliseconds from the start to the first byte of the answer; null when none came. */
  readonly firstByteMs: number | null;
  readonly outcome: Outcome | null;
  readonly cost: Usd | null;
  readonly end: 'completed' | 'failed' | 'abandoned';
  readonly failure: Error | null;
  readonly capturePrompts: boolean;
  /** How often it was sent on: again, or elsewhere; absent where once was enough. */
  readonly sentOn?: number;
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
  // Rounded once: a sum of milliseconds as large as today's and of a fraction would round by itself, and its other way.
  const durationNs = Math.round(call.durationMs * NS_PER_MS);
  return {
    spend: {
      id: call.rowId,
      callId: call.callId,
      responseId: outcome?.responseId ?? null,
      callType: endpoint.callType,
      keyHash: caller.keyHash,
      teamId: caller.teamId,
      userId: caller.userId,
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
    },
    span: {
      traceId: call.traceId,
      spanId: call.spanId,
      parentSpanId: request.parent?.spanId ?? null,
      name: truncateText(`${endpoint.operation} ${request.model}`, NAME_BYTES),
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
      events: [],
      links: [],
    },
  };
}

/** What an operation is in a trace; those the conventions do not name are work around a model. */
function typeOf(operation: string): SpanType {
  const types: Readonly<Record<string, SpanType>> = GEN_AI_OPERATIONS;
  return Object.hasOwn(types, operation) ? (types[operation] ?? 'framework') : 'framework';
}

/** Why the call does not count as a success; null when it does. The message is one a caller may see. */
function errorOf({ end, failure, outcome }: ClosedCall): { readonly code: string; readonly message: string } | null {
  if (end === 'completed') {
    // An answer that came in full order, and says that the model failed.
    const said = outcome?.failure ?? null;
    return said === null ? null : { code: 'UPSTREAM_FAILED', message: said.message };
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
  if (call.sentOn !== undefined) attributes[SENT_ON] = String(call.sentOn);
  if (errorType !== null) attributes[GEN_AI.errorType] = errorType;
  return attributes;
}

const askedOf = ({ body, endpoint: { asks } }: Accounted): unknown => (asks === undefined ? '' : body[asks.member]);

function inputText(request: Accounted): string {
  const asked = askedOf(request);
  return typeof asked === 'string'
    ? truncateText(asked, MAX_VALUE_BYTES)
    : truncateConversation(JSON.stringify(asked ?? []), MAX_VALUE_BYTES);
}

/** What the last message or text says, as text. Numbers are the tokens of one text. */
function preview(request: Accounted): string {
  const asked = askedOf(request);
  const last: unknown = Array.isArray(asked) && typeof asked.at(-1) !== 'number' ? asked.at(-1) : asked;
  const said: unknown = (isMessage(last) ? last.content : last) ?? '';
  return startOf(typeof said === 'string' ? said : JSON.stringify(said), PREVIEW_LIMIT);
}

const isMessage = (value: unknown): value is { readonly content?: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
