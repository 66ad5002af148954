import { decide } from '../resolvers/decisions.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { DECISIONS, type Endpoint, SYSTEM_ONE } from '../src/domain/inference/endpoint.ts';
import { assertValidRequest, type RequestBody } from '../src/domain/inference/request-validation.ts';
import { readNamedMap } from '../src/wire/decisions/named-map-request.ts';
import { readStandard } from '../src/wire/decisions/standard-request.ts';
import { assertNesting, parseBody } from './helpers/http/json-body.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './helpers/http/route.ts';
import { callContext, type CallFormat, callThrough } from './helpers/model-call/model-call.ts';
import { callSettings } from './helpers/model-call/call-settings.ts';
import { endpointSchema } from './helpers/http/endpoint-schema.ts';

/** Prefix of the headers that are forwarded to upstreams. TypeSafe, a vendor of decision models, defines them. */
const FORWARDED_PREFIX = 'typesafe-danger-zone-';

/** A request format. As in the reference, `assertQuestions` runs before the name of the model is validated. */
const decisionFormat = (
  endpoint: Endpoint,
  assertQuestions: (body: RequestBody, bytes: Uint8Array) => unknown,
): CallFormat => ({
  read(request): ModelRequest {
    const bytes = request.body;
    assertNesting(bytes);
    const body = parseBody(bytes);
    assertQuestions(body, bytes);
    assertValidRequest(body, endpoint);
    const call = { endpoint, model: String(body['model']), stream: false, includeUsage: false, bytes, body };
    return { ...call, ...callContext(request), ...forwardedHeaders(request), ...callSettings(request, call) };
  },
  call: decide,
  // A decision is never streamed.
  failureEvent: () => new Uint8Array(),
});

function forwardedHeaders({ headers }: HttpRequest): Pick<ModelRequest, 'forwarded'> {
  const forwarded = Object.entries(headers).filter(
    (header): header is [string, string] => header[0].startsWith(FORWARDED_PREFIX) && typeof header[1] === 'string',
  );
  return forwarded.length === 0 ? {} : { forwarded: Object.fromEntries(forwarded) };
}

/** Format of `/decisions`: `questions` is a list. */
const STANDARD = decisionFormat(DECISIONS, readStandard);
/** Format of `/systemone`: `questions` is an object, by the name of the question. */
const NAMED_MAP = decisionFormat(SYSTEM_ONE, readNamedMap);

/** Adds the call id in the header that TypeSafe's client reads. */
async function withRequestId(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const answer = await callThrough(NAMED_MAP, request, scope);
  const id = answer.headerLines?.valueOf('x-litellm-call-id');
  return id === undefined || id === null
    ? answer
    : { ...answer, headers: { ...answer.headers, 'x-typesafe-request-id': id } };
}

const rowOf = (name: string, endpoint: Endpoint, paths: RouteRow['paths'], handle: RouteRow['handle']): RouteRow => ({
  name,
  method: 'POST',
  paths,
  surface: 'proxy',
  relays: 'failures',
  failureForm: { body: 'decision' },
  credential: 'required',
  statuses: [200, 400, 401, 403, 422, 429, 500, 503],
  bodySchema: endpointSchema(endpoint),
  bodyLimit: 'setting',
  hot: true,
  handle,
});

/** Decision routes of both request formats. */
export const decisionRoutes: readonly RouteRow[] = [
  rowOf('decisions.create', DECISIONS, ['/v1/decisions', '/decisions'], (request, scope) =>
    callThrough(STANDARD, request, scope),
  ),
  rowOf(
    'decisions.systemOne',
    SYSTEM_ONE,
    ['/v1/systemone', '/systemone', '/v1/alt-decisions', '/alt-decisions'],
    withRequestId,
  ),
];
