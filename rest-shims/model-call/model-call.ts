import { seesApiBase } from '../../resolvers/deployments.ts';
import { callModel } from '../../resolvers/inference.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { collect } from '../../src/domain/bytes.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { DomainError, Unavailable } from '../../src/domain/errors.ts';
import { assertAskable, mistyped, type RequestBody } from '../../src/domain/inference/askable.ts';
import type { Endpoint } from '../../src/domain/inference/endpoint.ts';
import { publicAddress } from '../../src/domain/deployments/public-address.ts';
import { usdText } from '../../src/domain/money.ts';
import { parseTraceparent } from '../../src/domain/traces/trace-context.ts';
import { VERSION } from '../../src/domain/version.ts';
import { eventOf } from '../../src/wire/sse/events.ts';
import type { PartiallyParsed } from '../../src/wire/json/unread.ts';
import type { Form } from '../../src/domain/inference/form.ts';
import { proxyError, statusOf } from '../errors.ts';
import { callTermsOf } from './terms.ts';
import { bringsForm, formFields, formOf } from '../http/form.ts';
import { COMMENT_LINE } from '../http/heartbeat.ts';
import { rateLimitName } from '../http/rate-limit-headers.ts';
import type { HttpAnswer, HttpRequest } from '../http/route.ts';
import { parseBody, parseInPart, wholly } from '../http/json-body.ts';

type GatewayCall = Awaited<ReturnType<typeof callModel>>;

/** A call id that can be echoed in a header and kept in a row as it is. */
const CALL_ID = /^[\x21-\x7e]{1,200}$/;
/** Most bytes of an answer that is sent whole. */
const ANSWER_LIMIT = 64 * 1024 * 1024;

/** A door through which a model is called, in one dialect. */
export interface ModelDoor {
  /** The call a request asks for. Throws InvalidInput. */
  read(request: HttpRequest): ModelRequest;
  /** Runs the call; as it stands when absent. */
  readonly call?: (scope: Scope, asked: ModelRequest) => Promise<GatewayCall>;
  /** The last event of a stream that failed; its status went out long before. */
  lastWords(failure: Error): Uint8Array;
  /** An event that means nothing, for streams that are silent; absent where clients of the dialect would trip over it. */
  readonly heartbeat?: Uint8Array;
}

/** The door of OpenAI's endpoints. */
export const openAiDoor = (endpoint: Endpoint): ModelDoor => ({
  read: (request) => readOpenAi(endpoint, request),
  lastWords: errorEvent,
  heartbeat: COMMENT_LINE,
});

function readOpenAi(endpoint: Endpoint, request: HttpRequest): ModelRequest {
  const { body: bytes } = request;
  const form = isWrittenAsForm(endpoint, request) ? formOf(request, endpoint.path) : null;
  const { fields: body, unread } = sentBody(endpoint, request, form);
  assertAskable(body, endpoint, unread);
  const { stream, includeUsage } = endpoint.streams ? streamingOf(body, endpoint) : WHOLE;
  const asked = { endpoint, model: String(body['model']), stream, includeUsage, bytes, body };
  const facts = { ...asked, ...callFactsOf(request), ...callTermsOf(request, asked) };
  return form === null ? facts : { ...facts, form };
}

function sentBody({ asks }: Endpoint, { body: bytes, params }: HttpRequest, form: Form | null): PartiallyParsed {
  // Where the path names a model, as Azure's clients do, it is the one that is meant.
  const named = params['model'] ? { model: params['model'] } : {};
  if (form !== null) return wholly(formFields(form), named);
  // Items are looked through for what they refer to: to leave them unread would gain nothing.
  return asks.form === 'items' ? wholly(parseBody(bytes), named) : parseInPart(bytes, named);
}

const isWrittenAsForm = ({ written }: Endpoint, request: HttpRequest): boolean =>
  written === 'form' || (written === 'form or json' && bringsForm(request));

/** What the headers of a request say of the call it makes. */
export function callFactsOf({ headers }: Pick<HttpRequest, 'headers'>): Pick<ModelRequest, 'callId' | 'parent'> {
  const callId = headers['x-litellm-call-id'];
  const traceparent = headers['traceparent'];
  return {
    callId: typeof callId === 'string' && CALL_ID.test(callId) ? callId : null,
    parent: parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined),
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

/** A field that may be absent or null, else of one type. */
function optional(
  body: RequestBody,
  field: string,
  wanted: string,
  endpoint: Endpoint,
  isWanted: (value: {}) => boolean,
): {} | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && !isWanted(value)) throw mistyped(field, wanted, endpoint);
  return value;
}

/** Calls a model and answers with what it says. */
export async function callThrough(door: ModelDoor, request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const asked = door.read(request);
  const call = await (door.call ?? callModel)(scope, asked);
  if (call.exchange.streaming) return streamedAnswer(call, scope, door);
  return asked.endpoint.answers.member === null ? unreadAnswer(call, scope) : wholeAnswer(call, scope, asked.endpoint);
}

async function wholeAnswer(call: GatewayCall, scope: Scope, { medium }: Endpoint): Promise<HttpAnswer> {
  const bytes = await collect(call.exchange.bytes, ANSWER_LIMIT);
  if (bytes === null) {
    const failure = new Unavailable('The answer is too large to be sent whole. Ask for a stream.');
    call.settle('failed', failure);
    throw failure;
  }
  const head = headOf(call, scope);
  call.settle('completed');
  const contentType = medium === 'transcript' ? transcriptType(call) : 'application/json';
  return { head, body: { kind: 'bytes', bytes, contentType } };
}

/** A transcript is of the kind the upstream says; what it calls neither JSON nor text to read is shown as plain text. */
function transcriptType({ exchange }: GatewayCall): string {
  const said = exchange.headers['content-type'] ?? '';
  return /^\s*(application\/(json|x-subrip)|text\/(plain|vtt|srt))/i.test(said) ? said : 'text/plain; charset=utf-8';
}

function streamedAnswer(call: GatewayCall, scope: Scope, { lastWords, heartbeat }: ModelDoor): HttpAnswer {
  return {
    headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    head: headOf(call, scope),
    body: {
      kind: 'stream',
      stream: call.exchange.bytes,
      contentType: 'text/event-stream; charset=utf-8',
      ended: (end, failure) => call.settle(end, failure),
      lastWords,
      ...(heartbeat === undefined ? {} : { heartbeat }),
    },
  };
}

/** Bytes of any kind as they come. One that fails is broken off: words of ours would be noise in it. */
export function unreadAnswer(call: GatewayCall, scope: Scope): HttpAnswer {
  return {
    head: headOf(call, scope),
    body: {
      kind: 'stream',
      stream: call.exchange.bytes,
      contentType: call.exchange.headers['content-type'] ?? 'application/octet-stream',
      ended: (end, failure) => call.settle(end, failure),
      lastWords: () => null,
    },
  };
}

/** The last event of a stream that failed; its status went out long before. */
function errorEvent(failure: Error): Uint8Array {
  const error = failure instanceof DomainError ? failure : null;
  return eventOf(JSON.stringify({ error: proxyError(statusOf('proxy', error), error) }));
}

/** The headers of an answer that a call gave, names and values in turn. */
export function headOf(call: GatewayCall, scope: Scope): string[] {
  const { deployment, exchange, tries } = call;
  const cost = call.cost();
  const allowance = scope.caller?.key?.maxBudget ?? null;
  const head = [
    'x-litellm-call-id',
    call.callId,
    'x-litellm-model-group',
    headerText(call.modelGroup),
    'x-litellm-version',
    VERSION,
    'x-litellm-response-duration-ms',
    call.elapsedMs().toFixed(3),
    ...headOfDeployment(deployment, seesApiBase(scope)),
    'x-litellm-attempted-retries',
    String(tries.retries),
    'x-litellm-attempted-fallbacks',
    String(tries.fallbacks),
  ];
  if (tries.mostFallbacks !== null) head.push('x-litellm-max-fallbacks', String(tries.mostFallbacks));
  if (cost !== null) head.push('x-litellm-response-cost', usdText(cost));
  if (allowance !== null) {
    head.push('x-litellm-key-max-budget', usdText(allowance));
    const spent = call.keySpend();
    if (spent !== null) head.push('x-litellm-key-spend', usdText(spent));
  }
  if (exchange.dropped) head.push('x-gateway-dropped-params', headerText(exchange.dropped.join(', ')));
  for (const name in exchange.headers) {
    const value = headerText(exchange.headers[name] ?? '');
    head.push(`llm_provider-${name}`, value);
    const limit = rateLimitName(name);
    if (limit !== undefined) head.push(limit, value);
  }
  return head;
}

const headsWithBase = new WeakMap<object, readonly string[]>();
const headsWithoutBase = new WeakMap<object, readonly string[]>();

/** Headers that are the same for every call of a deployment, built once. */
function headOfDeployment(deployment: GatewayCall['deployment'], withBase: boolean): readonly string[] {
  const heads = withBase ? headsWithBase : headsWithoutBase;
  const known = heads.get(deployment);
  if (known) return known;
  const { id, apiBase, timeoutSeconds, options } = deployment;
  const place = options['aws_region_name'] ?? options['vertex_location'];
  const region = place === undefined ? [] : ['x-litellm-model-region', headerText(place)];
  const base = apiBase === null || !withBase ? [] : ['x-litellm-model-api-base', headerText(publicAddress(apiBase))];
  const head = ['x-litellm-model-id', headerText(id), ...base, ...region, 'x-litellm-timeout', String(timeoutSeconds)];
  heads.set(deployment, head);
  return head;
}

/** Text that may stand in a header; what may not is percent-encoded. */
export const headerText = (text: string): string =>
  /^[\t\x20-\x7e]*$/.test(text)
    ? text
    : text.replace(/[^\t\x20-\x7e]+/gu, (odd) => encodeURIComponent(odd.toWellFormed()));
