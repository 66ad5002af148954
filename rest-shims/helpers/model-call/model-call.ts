import type { RoutingDecision } from '../../../src/domain/auto-routers/routing-decision.ts';
import { callModel } from '../../../resolvers/inference.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { callerId } from '../../../src/domain/calls/caller-id.ts';
import { collect } from '../../../src/domain/bytes.ts';
import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { DomainError, Unavailable, UpstreamFailed } from '../../../src/domain/errors.ts';
import {
  assertValidRequest,
  invalidType,
  type RequestBody,
  withDefaultModel,
  withPromptMembers,
} from '../../../src/domain/inference/request-validation.ts';
import type { Endpoint } from '../../../src/domain/inference/endpoint.ts';
import { publicAddress } from '../../../src/domain/deployments/public-address.ts';
import { usdText } from '../../../src/domain/money.ts';
import { parseTraceparent } from '../../../src/domain/traces/trace-context.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { eventOf } from '../../../src/wire/sse/events.ts';
import type { PartiallyParsed } from '../../../src/wire/json/partial-parse.ts';
import type { Form } from '../../../src/domain/inference/form.ts';
import { seesApiBase } from '../../../resolvers/operation/visible-deployments.ts';
import { statusOf } from '../../errors.ts';
import { proxyError } from '../http/dialect-errors.ts';
import { isMultipart, formFields, parseForm } from '../http/form.ts';
import { COMMENT_LINE } from '../http/answer-writer.ts';
import { HeaderLines, HeaderName, headerText, namesText } from '../http/header-lines.ts';
import type { HttpAnswer, HttpRequest } from '../http/route.ts';
import { parseBody, parseLazily, fullyParsed, NO_OVERRIDES } from '../http/json-body.ts';
import { callSettings, NO_SETTINGS } from './call-settings.ts';
import { policyNames, policySources } from './policy-headers.ts';
import { rateLimitName, addRateLimits, addKeyHeaders } from './limit-headers.ts';

type GatewayCall = Awaited<ReturnType<typeof callModel>>;

/** Maximum size, in bytes, of an answer that is collected before it is sent. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Request reader and stream events of a dialect. */
export interface CallFormat {
  /** Reads a request. Throws InvalidInput. */
  read(request: HttpRequest): ModelRequest;
  /** Runs the call. `callModel` when absent. */
  readonly call?: (scope: Scope, request: ModelRequest) => Promise<GatewayCall>;
  /** Last event of a failed stream, whose status is already sent. */
  failureEvent(failure: Error): Uint8Array;
  /**
   * Event that is sent on idle streams and that clients ignore. Absent if clients of the dialect reject unknown events.
   */
  readonly heartbeat?: Uint8Array;
}

/** Format of OpenAI's endpoints. */
export const openAiFormat = (endpoint: Endpoint): CallFormat => ({
  read: (request) => readOpenAi(endpoint, request),
  failureEvent: errorEvent,
  heartbeat: COMMENT_LINE,
});

function readOpenAi(endpoint: Endpoint, request: HttpRequest): ModelRequest {
  const form = isSentAsForm(endpoint, request) ? parseForm(request, endpoint.path, endpoint.input.member) : null;
  const { fields: parsed, unread } = parseRequestBody(endpoint, request, form);
  const fields = withDefaultModel(withPromptMembers(parsed, endpoint, unread), endpoint);
  assertValidRequest(fields, endpoint, unread);
  const { stream, includeUsage } = endpoint.streams ? streamingOf(fields, endpoint) : NOT_STREAMED;
  const { callId, parent, userAgent } = callContext(request);
  const model = String(fields['model']);
  const call = { endpoint, model, stream, includeUsage, bytes: request.body, body: fields, callId, parent };
  const settings = callSettings(request, call);
  if (settings === NO_SETTINGS && userAgent === undefined && form === null) return call;
  return {
    ...call,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...settings,
    ...(form === null ? {} : { form }),
  };
}

function parseRequestBody({ input }: Endpoint, request: HttpRequest, form: Form | null): PartiallyParsed {
  // A model in the path, as Azure's clients send it, replaces that of the body.
  const model = request.params['model'];
  const overrides = model ? { model } : NO_OVERRIDES;
  if (form !== null) return fullyParsed(formFields(form), overrides);
  // Input items are parsed immediately, because they may refer to stored responses.
  return input.form === 'items' ? fullyParsed(parseBody(request.body), overrides) : parseLazily(request, overrides);
}

const isSentAsForm = ({ requestEncoding }: Endpoint, request: HttpRequest): boolean =>
  requestEncoding === 'form' || (requestEncoding === 'form or json' && isMultipart(request));

/** Call id, trace context and user agent from the headers of a request. */
export function callContext({
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
const NOT_STREAMED: Streaming = { stream: false, includeUsage: false };

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
  if (value !== undefined && !isValid(value)) throw invalidType(field, expected, endpoint);
  return value;
}

/** Calls a model and relays its answer. */
export async function callThrough(format: CallFormat, request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const modelRequest = format.read(request);
  const call = await (format.call ?? callModel)(scope, modelRequest);
  if (call.exchange.streaming) return streamedAnswer(call, scope, format);
  const { endpoint } = modelRequest;
  const isParsed = endpoint.answers.member !== null;
  return isParsed ? bufferedAnswer(call, scope, endpoint) : rawAnswer(call, scope);
}

function bufferedAnswer(call: GatewayCall, scope: Scope, { medium }: Endpoint): Promise<HttpAnswer> {
  return call.consume(async (stream) => {
    const bytes = await collect(stream, MAX_ANSWER_BYTES);
    if (bytes === null)
      throw new Unavailable('The answer is larger than 64 MiB. Request a stream if the endpoint supports one.');
    const contentType = medium === 'transcript' ? transcriptType(call) : 'application/json';
    return { headerLines: callHeaders(call, scope), body: { kind: 'bytes', bytes, contentType } };
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
    headerLines: callHeaders(call, scope),
    body: {
      kind: 'stream',
      stream: call.bytes(),
      contentType: 'text/event-stream; charset=utf-8',
      failureEvent,
      ...(heartbeat === undefined ? {} : { heartbeat }),
    },
  };
}

/**
 * Forwards bytes of any type. A failed stream closes the connection, because an error text would corrupt audio or a
 * file.
 */
export function rawAnswer(call: GatewayCall, scope: Scope): HttpAnswer {
  return {
    headerLines: callHeaders(call, scope),
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
  // As in the reference, the event of an upstream failure has the type null.
  return eventOf(JSON.stringify({ error: error instanceof UpstreamFailed ? { ...rendered, type: null } : rendered }));
}

export const CALL_ID = new HeaderName('x-litellm-call-id');
const MODEL_GROUP = new HeaderName('x-litellm-model-group');
export const GATEWAY_VERSION = new HeaderName('x-litellm-version');
export const DURATION = new HeaderName('x-litellm-response-duration-ms');
const MODEL_ID = new HeaderName('x-litellm-model-id');
const MODEL_NAME = new HeaderName('x-litellm-model-name');
export const API_BASE = new HeaderName('x-litellm-model-api-base');
const REGION = new HeaderName('x-litellm-model-region');
const TIMEOUT = new HeaderName('x-litellm-timeout');
const RETRIES = new HeaderName('x-litellm-attempted-retries');
const FALLBACKS = new HeaderName('x-litellm-attempted-fallbacks');
const MAX_RETRIES = new HeaderName('x-litellm-max-retries');
const MAX_FALLBACKS = new HeaderName('x-litellm-max-fallbacks');
export const GUARDRAILS = new HeaderName('x-litellm-applied-guardrails');
const CACHE_KEY = new HeaderName('x-litellm-cache-key');
const POLICIES = new HeaderName('x-litellm-applied-policies');
const POLICY_SOURCES = new HeaderName('x-litellm-policy-sources');
export const COST = new HeaderName('x-litellm-response-cost');
const ROUTER = new HeaderName('x-gateway-router');
const ROUTER_TIER = new HeaderName('x-gateway-router-tier');
const DROPPED = new HeaderName('x-gateway-dropped-params');

/** Headers of the answer of a model call: call id, deployment, retries, cost, limits, and those of the upstream. */
export function callHeaders(call: GatewayCall, scope: Scope): HeaderLines {
  const { deployment, exchange, tries, guardrails = [], policies } = call;
  const cost = call.cost();
  const head = new HeaderLines()
    .add(CALL_ID, call.callId)
    .addText(MODEL_GROUP, call.modelGroup)
    .add(GATEWAY_VERSION, VERSION)
    .add(DURATION, call.elapsedMs().toFixed(3));
  addDeployment(head, deployment, seesApiBase(scope));
  if (exchange.decision !== undefined) head.addText(MODEL_NAME, exchange.decision.qualifiedModel);
  head.add(RETRIES, String(tries.retries)).add(FALLBACKS, String(tries.fallbacks));
  if (guardrails.length > 0) head.addText(GUARDRAILS, guardrails.join(','));
  if (policies !== undefined && policies.length > 0)
    head.addText(POLICIES, policyNames(policies)).addText(POLICY_SOURCES, policySources(policies));
  if (tries.maxRetries !== null) head.add(MAX_RETRIES, String(tries.maxRetries));
  if (tries.maxFallbacks !== null) head.add(MAX_FALLBACKS, String(tries.maxFallbacks));
  if (exchange.cacheKey !== undefined) head.addText(CACHE_KEY, exchange.cacheKey);
  if (cost !== null) head.add(COST, usdText(cost));
  addKeyHeaders(head, scope.caller?.key ?? null, call);
  const isLimited = call.limits.length > 0;
  if (isLimited) addRateLimits(head, call.limits, call.modelGroup);
  if (call.routing !== undefined) addRouting(head, call.routing);
  const dropped = exchange.dropped ? namesText(exchange.dropped) : '';
  if (dropped !== '') head.add(DROPPED, dropped);
  for (const name in exchange.headers) {
    const value = headerText(exchange.headers[name] ?? '');
    head.addUpstreamHeader(name, value);
    // Rate limits of the gateway replace those of the upstream.
    const limit = isLimited ? undefined : rateLimitName(name);
    if (limit !== undefined) head.addChecked(limit, value);
  }
  return head;
}

/** Adds the router that selected the model, and its tier. */
function addRouting(head: HeaderLines, { router, tier }: RoutingDecision): void {
  head.addText(ROUTER, router);
  if (tier !== null) head.add(ROUTER_TIER, tier);
}

/** Adds the headers of the deployment that answered. */
function addDeployment(
  head: HeaderLines,
  { id, apiBase, timeoutSeconds, options }: GatewayCall['deployment'],
  showsAddress: boolean,
): void {
  const region = options['aws_region_name'] ?? options['vertex_location'];
  head.addText(MODEL_ID, id);
  if (apiBase !== null && showsAddress) head.addText(API_BASE, publicAddress(apiBase));
  if (region !== undefined) head.addText(REGION, region);
  head.add(TIMEOUT, String(timeoutSeconds));
}
