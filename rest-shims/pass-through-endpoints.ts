import {
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  listTeamEndpoints,
  updateEndpoint,
} from '../resolvers/pass-through-endpoints.ts';
import type { EndpointPatch, PassThroughEndpoint } from '../src/domain/pass-through/endpoint.ts';
import { endpointSetting } from '../src/domain/pass-through/endpoint-setting.ts';
import {
  flag,
  optional,
  listOf,
  members,
  number,
  object,
  orNull,
  parseObject,
  recordOf,
  requiredText,
  text,
} from './helpers/http/body-fields.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { requiredParameters, textParameters } from './helpers/http/schema.ts';
import { missingParameters } from './helpers/http/query.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

const settings = {
  headers: optional(recordOf(text)),
  default_query_params: optional(recordOf(text)),
  include_subpath: flag,
  cost_per_request: number,
  timeout: optional(number),
  auth: flag,
  guardrails: optional(orNull(object)),
  methods: optional(listOf(text)),
  forward_headers: flag,
} as const;

const readDraft = members({ id: text, path: requiredText, target: requiredText, ...settings });
const readPatch = members({ path: text, target: text, ...settings });

type SentFields = Omit<ReturnType<typeof readPatch>, 'path' | 'target'>;

/**
 * Settings of a body. Members that were not sent are absent. Null removes timeout, guardrails and methods; in other
 * members, null changes nothing.
 */
const patchOf = (input: SentFields): EndpointPatch => ({
  ...(input.headers ? { headers: input.headers } : {}),
  ...(input.default_query_params ? { defaultQuery: input.default_query_params } : {}),
  ...(input.include_subpath === null ? {} : { includeSubpath: input.include_subpath }),
  ...(input.cost_per_request === null ? {} : { costPerRequest: input.cost_per_request }),
  ...(input.timeout === undefined ? {} : { timeoutSeconds: input.timeout }),
  ...(input.auth === null ? {} : { auth: input.auth }),
  ...(input.guardrails === undefined ? {} : { guardrails: input.guardrails }),
  ...(input.methods === undefined ? {} : { methods: input.methods?.map((method) => method.toUpperCase()) ?? null }),
  ...(input.forward_headers === null ? {} : { forwardHeaders: input.forward_headers }),
});

function parseDraft({ body }: HttpRequest) {
  const { id, path, target, ...input } = readDraft(parseObject(body));
  return { id, path, target, ...patchOf(input) };
}

function parseChange({ body, params }: HttpRequest) {
  const { path, target, ...input } = readPatch(parseObject(body));
  const patch = { ...patchOf(input), ...(path === null ? {} : { path }), ...(target === null ? {} : { target }) };
  return { id: params['id'] ?? '', patch };
}

const idIn = ({ search }: HttpRequest): string | null => new URLSearchParams(search).get('endpoint_id');

function requiredId(request: HttpRequest): { readonly id: string } {
  const id = idIn(request);
  if (id !== null) return { id };
  throw missingParameters('endpoint_id');
}

/** An endpoint for administrators. Values of headers that may be credentials are masked. */
const renderEndpoint = (endpoint: PassThroughEndpoint) => ({
  ...endpointSetting(endpoint),
  is_from_config: endpoint.isFromConfig,
});

const answerOf = (endpoints: readonly PassThroughEndpoint[]): HttpAnswer =>
  json({ endpoints: endpoints.map(renderEndpoint) });

const MANAGED = {
  ...MANAGEMENT,
  failureForm: { body: 'detail' },
} as const satisfies Partial<RouteRow>;

const PATH = '/config/pass_through_endpoint';

/** Configured pass-through endpoints. A masked header value in an update keeps the stored value. */
export const passThroughEndpointRoutes: readonly RouteRow[] = [
  route({
    ...MANAGED,
    name: 'passThroughEndpoints.list',
    querySchema: textParameters('endpoint_id'),
    method: 'GET',
    paths: [PATH],
    statuses: [200, 401],
    bodyLimit: 0,
    parse: (request) => ({ id: idIn(request) }),
    run: listEndpoints,
    render: answerOf,
  }),
  route({
    ...MANAGED,
    name: 'passThroughEndpoints.team',
    method: 'GET',
    paths: [`${PATH}/team/:team`],
    statuses: [200, 401, 404],
    bodyLimit: 0,
    parse: ({ params }) => params['team'] ?? '',
    run: listTeamEndpoints,
    render: answerOf,
  }),
  route({
    ...MANAGED,
    name: 'passThroughEndpoints.create',
    bodySchema: readDraft.schema,
    method: 'POST',
    paths: [PATH],
    statuses: [200, 400, 401, 403, 422],
    bodyLimit: 1024 * 1024,
    parse: parseDraft,
    run: createEndpoint,
    render: (endpoint) => answerOf([endpoint]),
  }),
  route({
    ...MANAGED,
    name: 'passThroughEndpoints.update',
    bodySchema: readPatch.schema,
    method: 'POST',
    paths: [`${PATH}/:id`],
    statuses: [200, 400, 401, 403, 404, 422],
    bodyLimit: 1024 * 1024,
    parse: parseChange,
    run: updateEndpoint,
    render: (endpoint) => answerOf([endpoint]),
  }),
  route({
    ...MANAGED,
    name: 'passThroughEndpoints.delete',
    querySchema: requiredParameters('endpoint_id'),
    method: 'DELETE',
    paths: [PATH],
    statuses: [200, 400, 401, 403, 422],
    failureForm: { body: 'detail', notFoundAs: 'bad_request' },
    bodyLimit: 1024,
    parse: requiredId,
    run: deleteEndpoint,
    render: (endpoint) => answerOf([endpoint]),
  }),
];
