import {
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  listTeamEndpoints,
  updateEndpoint,
} from '../resolvers/pass-through-endpoints.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { EndpointPatch, PassThroughEndpoint } from '../src/domain/pass-through/endpoint.ts';
import { shownHeaders } from '../src/domain/pass-through/headers.ts';
import { builder, type InputFields } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { decimalText } from './base/decimal.ts';
import { localId } from './base/global-id.ts';
import { readObject, readTexts } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'PassThroughEndpoint';
const ENDPOINT_ID = 'The endpoint: global id or `endpointId`.';

const EndpointType = builder.objectRef<PassThroughEndpoint>(TYPE);

builder.node(EndpointType, {
  description: 'A path of the gateway whose calls are forwarded to an address, in the format of that address.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => listEndpoints(scope, { id })[0] ?? null),
  fields: (t) => ({
    endpointId: t.exposeString('id', { description: 'Local id, as in the HTTP API.' }),
    path: t.exposeString('path', { description: 'Path of the gateway.' }),
    target: t.exposeString('target', { description: 'Address that calls are forwarded to.' }),
    headers: t.field({
      type: 'JSON',
      description:
        'Headers that are sent to the target. Values are masked, except those of headers without secrets such as `content-type`.',
      resolve: ({ headers }) => shownHeaders(headers),
    }),
    defaultQueryParams: t.field({
      type: 'JSON',
      description: 'Query parameters that are sent where neither the request nor the target has them.',
      resolve: ({ defaultQuery }) => defaultQuery,
    }),
    includeSubpath: t.exposeBoolean('includeSubpath', { description: 'Whether paths below `path` are served.' }),
    costPerRequestUsd: t.field({
      type: 'Decimal',
      description: 'Cost of each answered call in USD. A negative amount charges nothing.',
      resolve: ({ costPerRequest }) => decimalText(costPerRequest),
    }),
    timeoutSeconds: t.float({
      nullable: true,
      description:
        'Time to the first byte of an answer, in seconds. When null, the default of the configuration applies.',
      resolve: ({ timeoutSeconds }) => timeoutSeconds,
    }),
    auth: t.exposeBoolean('auth', { description: 'Whether callers need a key.' }),
    methods: t.stringList({
      nullable: true,
      description: 'Methods that are served; null for all methods.',
      resolve: ({ methods }) => (methods === null ? null : [...methods]),
    }),
    forwardHeaders: t.exposeBoolean('forwardHeaders', { description: 'Whether headers of the caller are forwarded.' }),
    guardrails: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Guardrails by name, as configured. Null for none.',
      resolve: ({ guardrails }) => guardrails,
    }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
  }),
});

const EndpointFilterType = builder.inputType('PassThroughEndpointFilter', {
  description: 'Filter of pass-through endpoints. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    path: t.string({ description: 'Text that the path contains; letter case is ignored.' }),
    target: t.string({ description: 'Text that the target contains; letter case is ignored.' }),
    isFromConfig: t.boolean({ description: 'Whether the endpoint is in the configuration file.' }),
    teamId: t.id({ description: 'Team: global id or local id. Only endpoints that its keys may call.' }),
  }),
});

const EndpointOrderType = valueOrder('PassThroughEndpoint', 'pass-through endpoints', {
  PATH: { value: 'path', description: 'Path of the gateway.' },
  TARGET: { value: 'target', description: 'Address that calls are forwarded to.' },
});

const ORDER_VALUES = {
  path: (row: PassThroughEndpoint) => row.path,
  target: (row: PassThroughEndpoint) => row.target,
};

const idOf = ({ id }: PassThroughEndpoint) => id;

builder.queryField('passThroughEndpoints', (t) =>
  t.connection(
    {
      type: EndpointType,
      description:
        'Pass-through endpoints, by default endpoints of the configuration file first. For proxy administrators with full or read-only access.',
      args: {
        filter: t.arg({ type: EndpointFilterType, description: 'All endpoints when absent.' }),
        orderBy: t.arg({
          type: EndpointOrderType,
          description: 'Endpoints of the configuration file first when absent.',
        }),
      },
      complexity: pageCost,
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const teamId = nullIfBlank(localId('Team', filter?.teamId));
        const all = teamId === null ? listEndpoints(scope, { id: null }) : await listTeamEndpoints(scope, teamId);
        const found = all.filter(
          ({ path, target, isFromConfig }) =>
            containsText(path, filter?.path) &&
            containsText(target, filter?.target) &&
            matchesValue(isFromConfig, filter?.isFromConfig),
        );
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    {
      ...pageType('PassThroughEndpoint', 'pass-through endpoints'),
      fields: (pageFields) => totalCount(pageFields, 'pass-through endpoints'),
    },
    edgeType('PassThroughEndpoint', 'pass-through endpoint'),
  ),
);

const SETTINGS = {
  headers: 'Headers that are sent to the target, by name. They are encrypted.',
  defaultQueryParams: 'Query parameters that are sent where neither the request nor the target has them.',
  includeSubpath: 'Whether paths below `path` are served.',
  costPerRequestUsd: 'Cost of each answered call in USD.',
  timeoutSeconds: 'Time to the first byte of an answer, in seconds, above 0 and at most 86400.',
  auth: 'Whether callers need a key.',
  methods: 'Methods that are served.',
  forwardHeaders: 'Whether headers of the caller, without its key, are forwarded.',
  guardrails: 'Guardrails by name: an object.',
} as const;

/** Settings that are optional for a new endpoint and for a change. */
const settingFields = (t: InputFields) => ({
  defaultQueryParams: t.field({ type: 'JSON', description: SETTINGS.defaultQueryParams }),
  includeSubpath: t.boolean({ description: SETTINGS.includeSubpath }),
  costPerRequestUsd: t.field({ type: 'Decimal', description: SETTINGS.costPerRequestUsd }),
  timeoutSeconds: t.float({ description: SETTINGS.timeoutSeconds }),
  auth: t.boolean({ description: SETTINGS.auth }),
  methods: t.stringList({ description: SETTINGS.methods }),
  forwardHeaders: t.boolean({ description: SETTINGS.forwardHeaders }),
  guardrails: t.field({ type: 'JSON', description: SETTINGS.guardrails }),
});

const CreateInput = builder.inputType('CreatePassThroughEndpointInput', {
  description: 'A pass-through endpoint to store.',
  fields: (t) => ({
    endpointId: t.string({ description: 'Its id; generated when absent.' }),
    path: t.string({ required: true, description: 'Path of the gateway.' }),
    target: t.string({ required: true, description: 'http or https address.' }),
    headers: t.field({ type: 'JSON', description: SETTINGS.headers }),
    ...settingFields(t),
  }),
});

const UpdateInput = builder.inputType('UpdatePassThroughEndpointInput', {
  description:
    'Changes to a pass-through endpoint. Null removes a timeout, methods and guardrails. Other null members, and absent ones, stay as they are.',
  fields: (t) => ({
    endpoint: t.id({ required: true, description: ENDPOINT_ID }),
    path: t.string({ description: 'Path of the gateway.' }),
    target: t.string({ description: 'http or https address.' }),
    headers: t.field({
      type: 'JSON',
      description: `${SETTINGS.headers} A masked value leaves the stored one unchanged.`,
    }),
    ...settingFields(t),
  }),
});

const DeleteInput = builder.inputType('DeletePassThroughEndpointInput', {
  description: 'The endpoint to delete.',
  fields: (t) => ({ endpoint: t.id({ required: true, description: ENDPOINT_ID }) }),
});

type EndpointFields = Omit<typeof UpdateInput.$inferInput, 'endpoint'>;

const isPresent = <Value>(value: Value | null | undefined): value is Value => value !== null && value !== undefined;

const readGuardrails = (sent: unknown): PassThroughEndpoint['guardrails'] =>
  sent === null ? null : readObject(sent, 'guardrails');

/** Null removes the timeout, guardrails and methods of an endpoint. In other members, null changes nothing. */
function patchOf(fields: EndpointFields): EndpointPatch {
  const { headers, defaultQueryParams, includeSubpath, costPerRequestUsd, timeoutSeconds } = fields;
  const { auth, methods, forwardHeaders, guardrails, path, target } = fields;
  return {
    ...(isPresent(path) ? { path } : {}),
    ...(isPresent(target) ? { target } : {}),
    ...(isPresent(headers) ? { headers: readTexts(headers, 'headers') } : {}),
    ...(isPresent(defaultQueryParams) ? { defaultQuery: readTexts(defaultQueryParams, 'defaultQueryParams') } : {}),
    ...(isPresent(includeSubpath) ? { includeSubpath } : {}),
    ...(isPresent(costPerRequestUsd) ? { costPerRequest: Number(costPerRequestUsd) } : {}),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(isPresent(auth) ? { auth } : {}),
    ...(methods === undefined ? {} : { methods: methods?.map((method) => method.toUpperCase()) ?? null }),
    ...(isPresent(forwardHeaders) ? { forwardHeaders } : {}),
    ...(guardrails === undefined ? {} : { guardrails: readGuardrails(guardrails) }),
  };
}

// Conflict: the id is taken, the endpoint is in the configuration file, or a change would lose headers that cannot be
// decrypted. Several endpoints may have the same path.
builder.mutationFields((t) => ({
  createPassThroughEndpoint: t.field({
    type: EndpointType,
    description: `Stores a pass-through endpoint. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The endpoint.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreatePassThroughEndpointResult', description: 'The endpoint, or why it was not stored.' },
    },
    resolve: (_root, { input: { endpointId, path, target, ...fields } }, { scope }) =>
      createEndpoint(scope, { ...patchOf(fields), id: endpointId ?? null, path, target }),
  }),
  updatePassThroughEndpoint: t.field({
    type: EndpointType,
    description: `Changes a stored pass-through endpoint. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The endpoint and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: {
        name: 'UpdatePassThroughEndpointResult',
        description: 'The changed endpoint, or why it was not changed.',
      },
    },
    resolve: (_root, { input: { endpoint, ...fields } }, { scope }) =>
      updateEndpoint(scope, { id: localId(TYPE, endpoint), patch: patchOf(fields) }),
  }),
  deletePassThroughEndpoint: t.field({
    type: EndpointType,
    description: `Deletes a stored pass-through endpoint. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The endpoint.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: {
        name: 'DeletePassThroughEndpointResult',
        description: 'The deleted endpoint, or why it was not deleted.',
      },
    },
    resolve: (_root, { input }, { scope }) => deleteEndpoint(scope, { id: localId(TYPE, input.endpoint) }),
  }),
}));
