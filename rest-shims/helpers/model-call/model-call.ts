import { seesApiBase } from '../../../resolvers/deployments.ts';
import { callModel } from '../../../resolvers/inference.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { callerId } from '../../../src/domain/calls/caller-id.ts';
import { collect } from '../../../src/domain/bytes.ts';
import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { DomainError, Unavailable, UpstreamFailed } from '../../../src/domain/errors.ts';
import { assertValidRequest, mistyped, type RequestBody } from '../../../src/domain/inference/request-validation.ts';
import type { Endpoint } from '../../../src/domain/inference/endpoint.ts';
import { publicAddress } from '../../../src/domain/deployments/public-address.ts';
import { usdText } from '../../../src/domain/money.ts';
import { parseTraceparent } from '../../../src/domain/traces/trace-context.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { eventOf } from '../../../src/wire/sse/events.ts';
import type { PartiallyParsed } from '../../../src/wire/json/partial-parse.ts';
import type { Form } from '../../../src/domain/inference/form.ts';
import { proxyError } from '../http/dialect-errors.ts';
import { statusOf } from '../../errors.ts';
import { callTermsOf, NO_TERMS } from './terms.ts';
import { bringsForm, formFields, formOf } from '../http/form.ts';
import { COMMENT_LINE } from '../http/answer-writer.ts';
import { HeaderLines, HeaderName, headerText } from '../http/header-lines.ts';
import { rateLimitName, addStandings, addKeyHeaders } from './limit-headers.ts';
import type { HttpAnswer, HttpRequest } from '../http/route.ts';
import { parseBody, parseInPart, fullyParsed, NOTHING_NAMED } from '../http/json-body.ts';

type GatewayCall = Awaited<ReturnType<typeof callModel>>;

/** Most bytes of a complete answer. */
export const ANSWER_LIMIT = 64 * 1024 * 1024;

/** How requests of one dialect are read, and how its streams fail. */
export interface CallFormat {
  /** Reads a request. Throws InvalidInput. */
  read(request: HttpRequest): ModelRequest;
  /** Runs the call. `callModel` when absent. */
  readonly call?: (scope: Scope, request: ModelRequest) => Promise<GatewayCall>;
  /** Last event of a failed stream. Its status is already sent. */
  failureEvent(failure: Error): Uint8Array;
  /** Event that clients ignore, for idle streams. Absent if clients of the dialect reject such an event. */
  readonly heartbeat?: Uint8Array;
}

/** Format of OpenAI's endpoints. */
export const openAiFormat = (endpoint: Endpoint): CallFormat => ({
  read: (request) => readOpenAi(endpoint, request),
  failureEvent: errorEvent,
  heartbeat: COMMENT_LINE,
});

function readOpenAi(endpoint: Endpoint, request: HttpRequest): ModelRequest {
  const { body: bytes } = request;
  const form = isWrittenAsForm(endpoint, request) ? formOf(request, endpoint.path, endpoint.asks.member) : null;
  const { fields: body, unread } = sentBody(endpoint, request, form);
  assertValidRequest(body, endpoint, unread);
  const { stream, includeUsage } = endpoint.streams ? streamingOf(body, endpoint) : WHOLE;
  const { callId, parent, userAgent } = callFactsOf(request);
  const model = String(body['model']);
  const call = { endpoint, model, stream, includeUsage, bytes, body, callId, parent };
  const terms = callTermsOf(request, call);
  if (terms === NO_TERMS && userAgent === undefined && form === null) return call;
  return { ...call, ...(userAgent === undefined ? {} : { userAgent }), ...terms, ...(form === null ? {} : { form }) };
}

function sentBody({ asks }: Endpoint, request: HttpRequest, form: Form | null): PartiallyParsed {
  const { body: bytes, params } = request;
  // A model in the path, as Azure's clients send it, replaces that of the body.
  const named = params['model'] ? { model: params['model'] } : NOTHING_NAMED;
  if (form !== null) return fullyParsed(formFields(form), named);
  // Items are always parsed, because they may refer to stored responses.
  return asks.form === 'items' ? fullyParsed(parseBody(bytes), named) : parseInPart(request, named);
}

const isWrittenAsForm = ({ written }: Endpoint, request: HttpRequest): boolean =>
  written === 'form' || (written === 'form or json' && bringsForm(request));

/** Call id, trace context and user agent from the headers of a request. */
export function callFactsOf({
  headers,
}: Pick<HttpRequest, 'headers'>): Pick<ModelRequest, 'callId' | 'parent' | 'userAgent'> {
  const callId = headers['x-litellm-call-id'];
  const traceparent = headers['traceparent'];
  const userAgent = headers['user-agent'];
  return {
    callId: callId === undefined ? null : callerId(callId),
    parent: typeof traceparent === 'string' ? parseTraceparent(traceparent) : null,
    ...(userAgent === undefined ? {} : { userAgent }),
  };
}

type Streaming = Pick<ModelRequest, 'stream' | 'includeUsage'>;
const WHOLE: Streaming = { stream: false, includeUsage: false };

function streamingOf(body: RequestBody, endpoint: Endpoint): Streaming {
  const stream = optional(body, 'stream', 'a boolean', endpoint, (value) => typeof value === 'boolean');
  const options = optional(body, 'stream_options', 'an object', endpoint, (value) => typeof value === 'object');
  return {
    stream: stream === true,
    includeUsage: typeof options === 'object' && 'include_usage' in options && options.include_usage === true,
  };
}

/** A member that may be absent or null. Throws InvalidInput for another type. */
function optional(
  body: RequestBody,
  field: string,
  expected: string,
  endpoint: Endpoint,
  isValid: (value: {}) => boolean,
): {} | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && !isValid(value)) throw mistyped(field, expected, endpoint);
  return value;
}

/** Calls a model and relays its answer. */
export async function callThrough(format: CallFormat, request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const modelRequest = format.read(request);
  const call = await (format.call ?? callModel)(scope, modelRequest);
  if (call.exchange.streaming) return streamedAnswer(call, scope, format);
  const { endpoint } = modelRequest;
  return endpoint.answers.member === null ? rawAnswer(call, scope) : wholeAnswer(call, scope, endpoint);
}

function wholeAnswer(call: GatewayCall, scope: Scope, { medium }: Endpoint): Promise<HttpAnswer> {
  return call.consume(async (stream) => {
    const bytes = await collect(stream, ANSWER_LIMIT);
    if (bytes === null) throw new Unavailable('The answer is too large to be sent whole. Ask for a stream.');
    const contentType = medium === 'transcript' ? transcriptType(call) : 'application/json';
    return { head: headOf(call, scope), body: { kind: 'bytes', bytes, contentType } };
  });
}

/** Content type of a transcript: the upstream's if it is JSON or a text format, else plain text. */
function transcriptType({ exchange }: GatewayCall): string {
  const input = exchange.headers['content-type'] ?? '';
  return /^\s*(application\/(json|x-subrip)|text\/(plain|vtt|srt))/i.test(input) ? input : 'text/plain; charset=utf-8';
}

function streamedAnswer(call: GatewayCall, scope: Scope, { failureEvent, heartbeat }: CallFormat): HttpAnswer {
  return {
    headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    head: headOf(call, scope),
    body: {
      kind: 'stream',
      stream: call.bytes(),
      contentType: 'text/event-stream; charset=utf-8',
      failureEvent,
      ...(heartbeat === undefined ? {} : { heartbeat }),
    },
  };
}

/** Forwards bytes of any type. A failed answer is cut: an error text inside audio would be noise. */
export function rawAnswer(call: GatewayCall, scope: Scope): HttpAnswer {
  return {
    head: headOf(call, scope),
    body: {
      kind: 'stream',
      stream: call.bytes(),
      contentType: call.exchange.headers['content-type'] ?? 'application/octet-stream',
      failureEvent: () => null,
    },
  };
}

/** Last event of a failed stream, in OpenAI's format. */
function errorEvent(failure: Error): Uint8Array {
  const error = failure instanceof DomainError ? failure : null;
  const rendered = proxyError(statusOf('proxy', error), error);
  // As in the reference, a failure of the upstream has no type here.
  return eventOf(JSON.stringify({ error: error instanceof UpstreamFailed ? { ...rendered, type: null } : rendered }));
}

export const CALL_ID = new HeaderName('x-litellm-call-id');
const MODEL_GROUP = new HeaderName('x-litellm-model-group');
export const VERSION_OF_GATEWAY = new HeaderName('x-litellm-version');
export const DURATION = new HeaderName('x-litellm-response-duration-ms');
const MODEL_ID = new HeaderName('x-litellm-model-id');
export const API_BASE = new HeaderName('x-litellm-model-api-base');
const REGION = new HeaderName('x-litellm-model-region');
const TIMEOUT = new HeaderName('x-litellm-timeout');
const RETRIES = new HeaderName('x-litellm-attempted-retries');
const FALLBACKS = new HeaderName('x-litellm-attempted-fallbacks');
const MOST_RETRIES = new HeaderName('x-litellm-max-retries');
const MOST_FALLBACKS = new HeaderName('x-litellm-max-fallbacks');
export const GUARDRAILS = new HeaderName('x-litellm-applied-guardrails');
export const COST = new HeaderName('x-litellm-response-cost');
const DROPPED = new HeaderName('x-gateway-dropped-params');

/** Headers of an answer. */
export function headOf(call: GatewayCall, scope: Scope): HeaderLines {
  const { deployment, exchange, tries, guardrails = [] } = call;
  const cost = call.cost();
  const head = new HeaderLines()
    .add(CALL_ID, call.callId)
    .addText(MODEL_GROUP, call.modelGroup)
    .add(VERSION_OF_GATEWAY, VERSION)
    .add(DURATION, call.elapsedMs().toFixed(3));
  addDeployment(head, deployment, seesApiBase(scope));
  head.add(RETRIES, String(tries.retries)).add(FALLBACKS, String(tries.fallbacks));
  if (guardrails.length > 0) head.addText(GUARDRAILS, guardrails.join(','));
  if (tries.mostRetries !== null) head.add(MOST_RETRIES, String(tries.mostRetries));
  if (tries.mostFallbacks !== null) head.add(MOST_FALLBACKS, String(tries.mostFallbacks));
  if (cost !== null) head.add(COST, usdText(cost));
  addKeyHeaders(head, scope.caller?.key ?? null, call);
  const isLimited = call.limits.length > 0;
  if (isLimited) addStandings(head, call.limits, call.modelGroup);
  if (exchange.dropped) head.addText(DROPPED, exchange.dropped.join(', '));
  for (const name in exchange.headers) {
    const value = headerText(exchange.headers[name] ?? '');
    head.addOfUpstream(name, value);
    // The limits of the key hide those of the upstream.
    const limit = isLimited ? undefined : rateLimitName(name);
    if (limit !== undefined) head.addChecked(limit, value);
  }
  return head;
}

/** Adds the headers of the deployment that answered. */
function addDeployment(
  head: HeaderLines,
  { id, apiBase, timeoutSeconds, options }: GatewayCall['deployment'],
  withBase: boolean,
): void {
  const place = options['aws_region_name'] ?? options['vertex_location'];
  head.addText(MODEL_ID, id);
  if (apiBase !== null && withBase) head.addText(API_BASE, publicAddress(apiBase));
  if (place !== undefined) head.addText(REGION, place);
  head.add(TIMEOUT, String(timeoutSeconds));
}
