import { InvalidInput } from '../../../src/domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../../src/domain/json-object.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { callEndpoint, callOpenEndpoint } from '../../../resolvers/pass-through.ts';
import { publicAddress } from '../../../src/domain/deployments/public-address.ts';
import type { HttpMethod } from '../../../src/domain/http.ts';
import { usdText } from '../../../src/domain/money.ts';
import { relayedHeaders } from '../../../src/domain/pass-through/headers.ts';
import type { FoundEndpoint } from '../../../src/domain/pass-through/routes.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { withMembers } from '../../../src/wire/json/members.ts';
import { readForm } from '../../../src/wire/multipart/form.ts';
import type { SentRequest } from '../../../src/domain/pass-through/sent-request.ts';
import { seesTargetAddress } from '../../../resolvers/operation/visible-deployments.ts';
import { isMultipart, formFields } from '../http/form.ts';
import { COMMENT_LINE } from '../http/answer-writer.ts';
import { HeaderLines } from '../http/header-lines.ts';
import { parseValue } from '../http/json-body.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from '../http/route.ts';
import { gatewayLabels } from './labels.ts';
import { addKeyHeaders, addRateLimits } from './limit-headers.ts';
import { API_BASE, CALL_ID, callContext, COST, DURATION, GUARDRAILS, GATEWAY_VERSION } from './model-call.ts';

type Call = Awaited<ReturnType<typeof callEndpoint>>;

/** Member of a JSON body that is for the gateway only. */
const GATEWAY_MEMBER = 'litellm_metadata';
const JSON_TYPE = /^\s*application\/([\w.-]+\+)?json\b/i;

/** Common facts of rows that forward calls. */
export const FORWARDED = {
  surface: 'proxy',
  relays: 'answers',
  bodySchema: {},
  bodyLimit: 'setting',
} as const satisfies Partial<RouteRow>;

/**
 * A request to forward. A JSON body must be valid. `litellm_metadata` is removed from the body; all other bytes stay
 * unchanged. A JSON object in a body of another media type is also parsed, because a target may read it as JSON. Access
 * to the model that the object names is checked. Throws InvalidInput.
 */
export function sentRequest(request: HttpRequest): SentRequest {
  const { body } = request;
  const type = request.headers['content-type'];
  const isJson = body.length > 0 && (type === undefined || JSON_TYPE.test(type));
  const value = isJson ? parseValue(body) : jsonObjectOrNull(body);
  return requestWith(request, isJsonObject(value) ? value : {});
}

const URL_ENCODED = /^\s*application\/x-www-form-urlencoded\b/i;

const isForm = (request: HttpRequest): boolean =>
  isMultipart(request) || URL_ENCODED.test(request.headers['content-type'] ?? '');

/** As `sentRequest`, but also parses forms, because forms of a provider's API may name a model. Throws InvalidInput. */
export function sentToProvider(request: HttpRequest): SentRequest {
  const { body, headers } = request;
  if (isMultipart(request)) {
    const form = readForm(body, headers['content-type'] ?? '');
    return { ...requestWith(request, formFields(form)), form };
  }
  if (!URL_ENCODED.test(headers['content-type'] ?? '')) return sentRequest(request);
  const pairs = new URLSearchParams(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'));
  return requestWith(request, Object.fromEntries([...pairs.keys()].map((name) => [name, pairs.getAll(name)])));
}

function requestWith(request: HttpRequest, fields: JsonObject): SentRequest {
  const { method, path, search, headers } = request;
  const gatewayMembers = Object.hasOwn(fields, GATEWAY_MEMBER) ? { [GATEWAY_MEMBER]: fields[GATEWAY_MEMBER] } : {};
  return {
    method: method as HttpMethod,
    path,
    search,
    headers,
    fields,
    // `withMembers` removes a member with the value null.
    body:
      GATEWAY_MEMBER in gatewayMembers && !isForm(request)
        ? withMembers(request.body, { [GATEWAY_MEMBER]: null })
        : request.body,
    ...callContext(request),
    ...gatewayLabels(request, gatewayMembers),
  };
}

const OPENING_BRACE = 0x7b;

/** The value of a body that is a JSON object; null for other values and for invalid JSON. */
function jsonObjectOrNull(body: Uint8Array): unknown {
  // Bytes up to 0x20 are white space.
  const first = body.find((byte) => byte > 0x20);
  if (first !== OPENING_BRACE) return null;
  try {
    return parseValue(body);
  } catch {
    return null;
  }
}

/**
 * Relays the answer of a target: its status, headers and bytes, with the headers of the gateway. `bytes` is the body if
 * it is already read.
 */
export function relayedAnswer(call: Call, scope: Scope, bytes: Uint8Array | null = null): HttpAnswer {
  const { status, headers } = call.exchange;
  const { 'content-type': contentType = 'application/octet-stream', ...relayed } = relayedHeaders(headers);
  if (bytes !== null)
    return {
      status,
      headers: relayed,
      headerLines: relayHeaders(call, scope),
      body: { kind: 'bytes', bytes, contentType },
    };
  const isEventStream = /^\s*text\/event-stream/i.test(contentType);
  const head = relayHeaders(call, scope);
  // A known length avoids chunked encoding.
  const length = isEventStream || BODILESS_STATUSES.has(status) ? undefined : headers['content-length'];
  if (length !== undefined && /^\d+$/.test(length)) head.addLength(length);
  return {
    status,
    headers: relayed,
    headerLines: head,
    body: {
      kind: 'stream',
      stream: call.bytes(),
      contentType,
      failureEvent: () => null,
      ...(isEventStream ? { heartbeat: COMMENT_LINE } : {}),
    },
  };
}

/** Statuses without a body. Their `content-length` is not relayed. */
const BODILESS_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

function relayHeaders(call: Call, scope: Scope): HeaderLines {
  const { deployment, exchange } = call;
  const head = new HeaderLines()
    .add(CALL_ID, call.callId)
    .add(GATEWAY_VERSION, VERSION)
    .add(DURATION, call.elapsedMs().toFixed(3));
  if (deployment.apiBase !== null && seesTargetAddress(scope, deployment))
    head.addText(API_BASE, publicAddress(deployment.apiBase));
  if (call.guardrails !== undefined) head.addText(GUARDRAILS, call.guardrails.join(','));
  // The cost of a streamed answer is not known before its end.
  const cost = exchange.streaming ? null : call.cost();
  if (cost !== null) head.add(COST, usdText(cost));
  addKeyHeaders(head, scope.caller?.key ?? null, call);
  addRateLimits(head, call.limits, call.modelGroup);
  return head;
}

/** Content encodings without compression. */
const IDENTITY = /^\s*(identity)?\s*$/i;

/**
 * The values of `model` in a form; none for another body. Throws InvalidInput for a malformed form, and for a
 * compressed body, which may name a model.
 */
function modelsOfForm(request: HttpRequest): readonly string[] {
  const { 'content-encoding': encoding = '' } = request.headers;
  if (request.body.length > 0 && !IDENTITY.test(encoding))
    throw new InvalidInput('This API key may call certain models only, so the body must not be compressed.');
  if (!isForm(request)) return [];
  return [sentToProvider(request).fields['model']]
    .flat()
    .filter((one): one is string => typeof one === 'string' && one !== '');
}

/** The row of a request to a configured pass-through endpoint. The OpenAPI document has no such row. */
export function endpointRow(
  method: RouteRow['method'],
  path: string,
  { endpoint, subpath }: Extract<FoundEndpoint, { kind: 'endpoint' }>,
): RouteRow {
  const run = endpoint.auth ? callEndpoint : callOpenEndpoint;
  return {
    ...FORWARDED,
    name: 'passThrough.call',
    method,
    paths: [path],
    credential: endpoint.auth ? 'required' : 'none',
    statuses: [200, 400, 401, 403, 405, 408, 422, 429, 500],
    handle: async (request, scope) =>
      relayedAnswer(
        await run(scope, {
          endpoint,
          subpath,
          sent: sentRequest(request),
          modelsOfForm: () => modelsOfForm(request),
        }),
        scope,
      ),
  };
}
