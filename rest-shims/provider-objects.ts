import {
  changeProviderObject,
  createProviderObject,
  listProviderObjects,
  readProviderObject,
} from '../resolvers/provider-objects.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { GATEWAY_FIELDS } from '../src/domain/inference/gateway-fields.ts';
import { OBJECT_PATHS } from '../src/domain/upstream-objects/object-action.ts';
import {
  CONTAINER,
  EVAL,
  EVAL_RUN,
  type FamilyAction,
  type FamilyKind,
  FINE_TUNING_JOB,
} from '../src/domain/upstream-objects/object-families.ts';
import { formFields, isMultipart, parseForm } from './helpers/http/form.ts';
import { parseBody } from './helpers/http/json-body.ts';
import { invalidParameter } from './helpers/http/query.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './helpers/http/route.ts';
import { type JsonSchema, objectSchema } from './helpers/http/schema.ts';
import { gatewayLabels } from './helpers/model-call/labels.ts';
import { callContext, callHeaders, rawAnswer } from './helpers/model-call/model-call.ts';
import {
  listAnswer,
  objectAnswer,
  objectFromPath,
  pageSchema,
  parsePage,
  placementOf,
  PLACEMENT_FIELDS,
  STORED_OBJECT_ROW,
} from './helpers/model-call/upstream-objects.ts';

/** Default number of objects on a page, and the maximum, as at OpenAI. */
const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

const GATEWAY_MEMBERS = [...PLACEMENT_FIELDS, ...GATEWAY_FIELDS];
/** The model of a fine-tuning job is for the upstream. */
const JOB_GATEWAY_MEMBERS = GATEWAY_MEMBERS.filter((name) => name !== 'model');

const bothPaths = (path: string): [string, string] => [`/v1${path}`, path];
/** Path of the objects of a kind. Runs are below their evaluation. */
const collectionPath = (kind: FamilyKind): string =>
  kind === 'eval_run' ? `${OBJECT_PATHS.eval}/:parent/runs` : OBJECT_PATHS[kind];
const pathsOf = ({ kind, below }: FamilyAction): [string, string] => bothPaths(`${collectionPath(kind)}/:id${below}`);
/** Id of the evaluation in the path of a run; null for other objects. */
const parentOf = (kind: FamilyKind, { params }: HttpRequest): string | null =>
  kind === 'eval_run' ? (params['parent'] ?? '') : null;

/** A row that creates an object, and one that lists the objects of the caller. */
function collectionRows(
  kind: FamilyKind,
  {
    noun,
    bodySchema,
    gatewayMembers,
    nameParameter,
    refused,
  }: {
    readonly noun: string;
    readonly bodySchema: JsonSchema;
    readonly gatewayMembers: readonly string[];
    /** Query parameter with the name that listed objects must have; null without one. */
    readonly nameParameter: string | null;
    /** Query parameters, as `name=value`, that only a list of the upstream could apply. */
    readonly refused: RegExp | null;
  },
): readonly RouteRow[] {
  const path = OBJECT_PATHS[kind];
  return [
    {
      ...STORED_OBJECT_ROW,
      name: `${noun}.create`,
      method: 'POST',
      paths: bothPaths(collectionPath(kind)),
      bodySchema,
      statuses: [200, 400, 401, 403, 404, 422, 429, 500],
      bodyLimit: 'setting',
      async handle(request, scope) {
        const fields = parseBody(request.body);
        const draft = {
          kind,
          fields,
          bytes: request.body,
          gatewayMembers,
          parentId: parentOf(kind, request),
          ...placementOf(request, fields),
          ...callContext(request),
          ...gatewayLabels(request, fields, path),
        };
        return objectAnswer(await createProviderObject(scope, draft), scope);
      },
    },
    {
      ...STORED_OBJECT_ROW,
      name: `${noun}.list`,
      method: 'GET',
      paths: bothPaths(collectionPath(kind)),
      querySchema: pageSchema(MAX_PAGE_SIZE),
      statuses: kind === 'eval_run' ? [200, 400, 401, 404] : [200, 400, 401],
      bodyLimit: 0,
      async handle(request, scope) {
        const query = new URLSearchParams(request.search);
        const unknown = [...query].find(([name, value]) => refused?.test(`${name}=${value}`) === true);
        if (unknown !== undefined)
          throw invalidParameter(path, unknown[0], 'absent: lists of the gateway do not have it');
        const page = parsePage(request, path, { defaultLimit: DEFAULT_PAGE_SIZE, max: MAX_PAGE_SIZE });
        const purpose = parentOf(kind, request) ?? (nameParameter === null ? null : query.get(nameParameter));
        return listAnswer(await listProviderObjects(scope, { ...page, purpose, kind }));
      },
    },
  ];
}

/** Parameters of a query that are for the gateway. */
const GATEWAY_PARAMETERS = PLACEMENT_FIELDS;

/** A request about an object of a family, whose id is in the path. Throws InvalidInput. */
function parseRequest(action: FamilyAction, request: HttpRequest) {
  const query = new URLSearchParams(request.search);
  for (const name of GATEWAY_PARAMETERS) query.delete(name);
  const sent = action.sendsBody ? parsedBody(request) : { fields: {}, body: { kind: 'none' } as const };
  // As for files, members of a form are for the upstream, so the labels are those of headers.
  const labelled = sent.body.kind === 'form' ? {} : sent.fields;
  return {
    action,
    ...objectFromPath(request),
    ...gatewayLabels(request, labelled, OBJECT_PATHS[action.kind]),
    parentId: parentOf(action.kind, request),
    part: action.below.includes(':part') ? (request.params['part'] ?? '') : null,
    search: query.toString(),
    ...sent,
  };
}

/** Members and body of a request, without the members for the gateway. Throws InvalidInput. */
function parsedBody(request: HttpRequest) {
  if (isMultipart(request)) {
    const form = parseForm(request, OBJECT_PATHS.container, 'file');
    return { fields: formFields(form), body: { kind: 'form', form, without: GATEWAY_MEMBERS } as const };
  }
  if (request.body.length === 0) return { fields: {}, body: { kind: 'none' } as const };
  const fields = parseBody(request.body);
  const removed = GATEWAY_MEMBERS.filter((name) => Object.hasOwn(fields, name));
  const set = Object.fromEntries(removed.map((name) => [name, null]));
  return { fields, body: { kind: 'json', bytes: request.body, set } as const };
}

async function answer(action: FamilyAction, request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const run = action.method === 'GET' ? readProviderObject : changeProviderObject;
  const { call, shown } = await run(scope, parseRequest(action, request));
  if (shown === null) return rawAnswer(call, scope);
  return { headerLines: callHeaders(call, scope), body: { kind: 'json', value: shown } };
}

/** Maximum size of a body that has no effect, in bytes. SDKs send `{}` with requests that have no members. */
const EMPTY_BODY_LIMIT = 1024;

/** Query of lists that the upstream answers. */
const PART_PAGE = objectSchema({
  limit: { type: 'integer' },
  order: { enum: ['asc', 'desc'] },
  after: { type: 'string' },
});

/** The row of an action on one object. A list of parts has the parameters of its upstream. */
function rowOf(action: FamilyAction, more: Pick<Partial<RouteRow>, 'bodySchema' | 'bodyLimit' | 'querySchema'> = {}) {
  const { name, kind, method, createsObject, sendsBody } = action;
  const endsRuns = action.answers === 'deletion' && (kind === 'eval' || kind === 'eval_run');
  const statuses = [
    200,
    ...(sendsBody || endsRuns ? [400] : []),
    401,
    ...(method === 'GET' ? [] : [403]),
    404,
    ...(createsObject ? [422, 429] : []),
    500,
  ];
  return {
    ...STORED_OBJECT_ROW,
    name,
    method,
    paths: pathsOf(action),
    statuses,
    bodyLimit: method === 'POST' ? EMPTY_BODY_LIMIT : 0,
    ...more,
    handle: (request: HttpRequest, scope: Scope) => answer(action, request, scope),
  } satisfies RouteRow;
}

/** Objects of the APIs of providers: containers, fine-tuning jobs, and evaluations with their runs. */
export const providerObjectRoutes: readonly RouteRow[] = [
  ...collectionRows('container', {
    noun: 'containers',
    bodySchema: objectSchema({ name: { type: 'string' }, file_ids: { type: 'array', items: { type: 'string' } } }, []),
    gatewayMembers: GATEWAY_MEMBERS,
    nameParameter: 'name',
    refused: null,
  }),
  rowOf(CONTAINER.get),
  rowOf(CONTAINER.delete),
  rowOf(CONTAINER.listFiles, { querySchema: PART_PAGE }),
  rowOf(CONTAINER.addFile, { bodySchema: objectSchema({ file_id: { type: 'string' } }), bodyLimit: 'setting' }),
  rowOf(CONTAINER.getFile),
  rowOf(CONTAINER.removeFile),
  rowOf(CONTAINER.readFile),
  ...collectionRows('fine_tuning_job', {
    noun: 'fineTuningJobs',
    bodySchema: objectSchema(
      { model: { type: 'string' }, training_file: { type: 'string' }, validation_file: { type: ['string', 'null'] } },
      ['model', 'training_file'],
    ),
    gatewayMembers: JOB_GATEWAY_MEMBERS,
    nameParameter: null,
    refused: /^metadata[[=]/,
  }),
  rowOf(FINE_TUNING_JOB.get),
  rowOf(FINE_TUNING_JOB.cancel),
  rowOf(FINE_TUNING_JOB.pause),
  rowOf(FINE_TUNING_JOB.resume),
  rowOf(FINE_TUNING_JOB.listEvents, { querySchema: PART_PAGE }),
  rowOf(FINE_TUNING_JOB.listCheckpoints, { querySchema: PART_PAGE }),
  ...collectionRows('eval', {
    noun: 'evals',
    bodySchema: objectSchema(
      {
        name: { type: 'string' },
        data_source_config: objectSchema({ type: { const: 'custom' } }, ['type']),
        testing_criteria: { type: 'array' },
      },
      ['data_source_config'],
    ),
    gatewayMembers: GATEWAY_MEMBERS,
    nameParameter: null,
    refused: /^order_by=(?!created_at$)/,
  }),
  rowOf(EVAL.get),
  rowOf(EVAL.update, { bodySchema: objectSchema({ name: { type: 'string' } }), bodyLimit: 'setting' }),
  rowOf(EVAL.delete),
  ...collectionRows('eval_run', {
    noun: 'evalRuns',
    bodySchema: objectSchema({ name: { type: 'string' }, data_source: { type: 'object' } }, ['data_source']),
    gatewayMembers: GATEWAY_MEMBERS,
    nameParameter: null,
    refused: /^status=/,
  }),
  rowOf(EVAL_RUN.get),
  rowOf(EVAL_RUN.cancel),
  rowOf(EVAL_RUN.delete),
  rowOf(EVAL_RUN.listItems, { querySchema: PART_PAGE }),
  rowOf(EVAL_RUN.getItem),
];
