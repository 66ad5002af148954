import { isJsonObject, type JsonObject } from '../../../src/domain/json-object.ts';
import { seesApiBase } from '../../../resolvers/deployments.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { callEndpoint, callOpenEndpoint, type SentRequest } from '../../../resolvers/pass-through.ts';
import { publicAddress } from '../../../src/domain/deployments/public-address.ts';
import type { HttpMethod } from '../../../src/domain/http.ts';
import { usdText } from '../../../src/domain/money.ts';
import { relayedHeaders } from '../../../src/domain/pass-through/headers.ts';
import type { FoundEndpoint } from '../../../src/domain/pass-through/routes.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { withMembers } from '../../../src/wire/json/members.ts';
import { readForm } from '../../../src/wire/multipart/form.ts';
import { bringsForm, formFields } from '../http/form.ts';
import { COMMENT_LINE } from '../http/answer-writer.ts';
import { HeaderLines } from '../http/header-lines.ts';
import { parseValue } from '../http/json-body.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from '../http/route.ts';
import { ownLabels } from './labels.ts';
import { addKeyHeaders, addStandings } from './limit-headers.ts';
import { API_BASE, CALL_ID, callFactsOf, COST, DURATION, GUARDRAILS, VERSION_OF_GATEWAY } from './model-call.ts';

type Call = Awaited<ReturnType<typeof callEndpoint>>;

/** Member of a JSON body that is for the gateway only. */
const OWN_MEMBER = 'litellm_metadata';
const JSON_TYPE = /^\s*application\/([\w.-]+\+)?json\b/i;

/** Facts of all rows whose calls are forwarded. */
export const FORWARDED = {
  surface: 'proxy',
  category: null,
  relays: 'answers',
  request: {},
  bodyLimit: 'setting',
} as const satisfies Partial<RouteRow>;

/**
 * A request as it is forwarded. A JSON body must be valid; the member for the gateway is removed from it and all other
 * bytes stay as they were sent. A body of another type is read where it is a JSON object, because a target may read it as
 * one: the model that it names must be allowed. Throws InvalidInput.
 */
export function sentRequest(request: HttpRequest): SentRequest {
  const { body } = request;
  const type = request.headers['content-type'];
  const isJson = body.length > 0 && (type === undefined || JSON_TYPE.test(type));
  const value = isJson ? parseValue(body) : valueOrNull(body);
  return sentWith(request, isJsonObject(value) ? value : {});
}

const URL_ENCODED = /^\s*application\/x-www-form-urlencoded\b/i;

/** The same for a provider's own API, whose forms may name a model, too. Throws InvalidInput. */
export function sentToProvider(request: HttpRequest): SentRequest {
  const { body, headers } = request;
  if (bringsForm(request)) {
    const form = readForm(body, headers['content-type'] ?? '');
    return { ...sentWith(request, formFields(form)), form };
  }
  if (!URL_ENCODED.test(headers['content-type'] ?? '')) return sentRequest(request);
  const pairs = new URLSearchParams(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'));
  return sentWith(request, Object.fromEntries([...pairs.keys()].map((name) => [name, pairs.getAll(name)])));
}

function sentWith(request: HttpRequest, fields: JsonObject): SentRequest {
  const { method, path, search, headers } = request;
  const own = Object.hasOwn(fields, OWN_MEMBER) ? { [OWN_MEMBER]: fields[OWN_MEMBER] } : {};
  const isForm = bringsForm(request) || URL_ENCODED.test(headers['content-type'] ?? '');
  return {
    method: method as HttpMethod,
    path,
    search,
    headers,
    fields,
    body: OWN_MEMBER in own && !isForm ? withMembers(request.body, { [OWN_MEMBER]: null }) : request.body,
    ...callFactsOf(request),
    ...ownLabels(request, own),
  };
}

const OPENING_BRACE = 0x7b;

/** The value of a body that begins as a JSON object; null for all others. */
function valueOrNull(body: Uint8Array): unknown {
  const first = body.find((byte) => byte > 0x20);
  if (first !== OPENING_BRACE) return null;
  try {
    return parseValue(body);
  } catch {
    return null;
  }
}

/** The answer of a target: its status, headers and bytes, and the headers of the gateway. `bytes` are those read already. */
export function relayedAnswer(call: Call, scope: Scope, bytes: Uint8Array | null = null): HttpAnswer {
  const { status, headers } = call.exchange;
  const { 'content-type': contentType = 'application/octet-stream', ...relayed } = relayedHeaders(headers);
  if (bytes !== null)
    return { status, headers: relayed, head: headOf(call, scope), body: { kind: 'bytes', bytes, contentType } };
  const isEvents = /^\s*text\/event-stream/i.test(contentType);
  const head = headOf(call, scope);
  // With a length the answer is one write; without, it is sent in chunks.
  const length = isEvents || BODILESS.has(status) ? undefined : headers['content-length'];
  if (length !== undefined && /^\d+$/.test(length)) head.addLength(length);
  return {
    status,
    headers: relayed,
    head,
    body: {
      kind: 'stream',
      stream: call.bytes(),
      contentType,
      failureEvent: () => null,
      ...(isEvents ? { heartbeat: COMMENT_LINE } : {}),
    },
  };
}

/** Statuses without a body, whose length is that of another answer. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

function headOf(call: Call, scope: Scope): HeaderLines {
  const { deployment, exchange } = call;
  const head = new HeaderLines()
    .add(CALL_ID, call.callId)
    .add(VERSION_OF_GATEWAY, VERSION)
    .add(DURATION, call.elapsedMs().toFixed(3));
  if (deployment.apiBase !== null && seesApiBase(scope)) head.addText(API_BASE, publicAddress(deployment.apiBase));
  if (call.guardrails !== undefined) head.addText(GUARDRAILS, call.guardrails.join(','));
  const cost = exchange.streaming ? null : call.cost();
  if (cost !== null) head.add(COST, usdText(cost));
  addKeyHeaders(head, scope.caller?.key ?? null, call);
  addStandings(head, call.limits, call.modelGroup);
  return head;
}

/** The row of a request for an entry. It is no documented path: entries are configured. */
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
    answers: [200, 400, 401, 403, 405, 408, 422, 429, 500],
    handle: async (request, scope) =>
      relayedAnswer(await run(scope, { endpoint, subpath, sent: sentRequest(request) }), scope),
  };
}
