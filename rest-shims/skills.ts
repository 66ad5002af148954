import {
  changeProviderObject,
  createProviderObject,
  listProviderObjects,
  listPublishedSkills,
  readProviderObject,
} from '../resolvers/provider-objects.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { GATEWAY_FIELDS } from '../src/domain/inference/gateway-fields.ts';
import { OBJECT_PATHS } from '../src/domain/upstream-objects/object-action.ts';
import { type FamilyAction, SKILL } from '../src/domain/upstream-objects/object-families.ts';
import { fieldsOf } from '../src/wire/multipart/form.ts';
import { parseForm } from './helpers/http/form.ts';
import { invalidParameter } from './helpers/http/query.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow } from './helpers/http/route.ts';
import { objectSchema } from './helpers/http/schema.ts';
import { gatewayLabels } from './helpers/model-call/labels.ts';
import { callContext, callHeaders, rawAnswer } from './helpers/model-call/model-call.ts';
import {
  objectAnswer,
  objectFromPath,
  parsePage,
  placementOf,
  PLACEMENT_FIELDS,
  STORED_OBJECT_ROW,
} from './helpers/model-call/upstream-objects.ts';

const PATH = OBJECT_PATHS.skill;
/** Default number of skills on a page, and the maximum, as at Anthropic. */
const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

/** Headers that select the version of the API and its beta features. The provider gets them. */
const API_HEADERS = ['anthropic-version', 'anthropic-beta'] as const;
/** Fields of a form that are for the gateway. */
const GATEWAY_MEMBERS = [...PLACEMENT_FIELDS, ...GATEWAY_FIELDS];

const bothPaths = (path: string): [string, string] => [`/v1${path}`, path];

const apiHeaders = ({ headers }: HttpRequest): Readonly<Record<string, string>> =>
  Object.fromEntries(
    API_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

/** Labels of a request with a form: members of the form are for the provider, so they are those of headers. */
const labelsOf = (request: HttpRequest) => gatewayLabels(request, {}, PATH);

/** Query for the provider, without the parameters for the gateway. */
function searchOf({ search }: HttpRequest): string {
  const query = new URLSearchParams(search);
  for (const name of PLACEMENT_FIELDS) query.delete(name);
  return query.toString();
}

async function create(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const form = parseForm(request, PATH, 'files');
  const fields = fieldsOf(form);
  const draft = {
    kind: 'skill',
    form,
    fields,
    bytes: request.body,
    gatewayMembers: GATEWAY_MEMBERS,
    parentId: null,
    headers: apiHeaders(request),
    ...placementOf(request, fields),
    ...callContext(request),
    ...labelsOf(request),
  } as const;
  return objectAnswer(await createProviderObject(scope, draft), scope);
}

/** Lists the skills of the caller, or those that the provider publishes (`source=anthropic`). */
async function list(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const query = new URLSearchParams(request.search);
  const source = query.get('source') ?? 'custom';
  if (source === 'anthropic') {
    const published = {
      search: searchOf(request),
      headers: apiHeaders(request),
      ...placementOf(request, {}),
      ...callContext(request),
      ...labelsOf(request),
    };
    return objectAnswer(await listPublishedSkills(scope, published), scope);
  }
  if (source !== 'custom') throw invalidParameter(PATH, 'source', "'custom' or 'anthropic'");
  const sent = new URLSearchParams({ limit: query.get('limit') ?? String(DEFAULT_PAGE_SIZE) });
  const page = parsePage({ ...request, search: sent.toString() }, PATH, {
    defaultLimit: DEFAULT_PAGE_SIZE,
    max: MAX_PAGE_SIZE,
  });
  const after = query.get('page');
  const { data, hasMore } = await listProviderObjects(scope, { ...page, after, kind: 'skill' });
  return json({ data, has_more: hasMore, next_page: hasMore ? (data.at(-1)?.['id'] ?? null) : null });
}

/** A request about a skill, whose id is in the path. Throws InvalidInput. */
function parseRequest(action: FamilyAction, request: HttpRequest) {
  const common = {
    action,
    ...objectFromPath(request),
    parentId: null,
    part: action.below.includes(':part') ? (request.params['part'] ?? '') : null,
    search: searchOf(request),
    headers: apiHeaders(request),
    ...labelsOf(request),
  };
  if (!action.sendsBody) return { ...common, fields: {}, body: { kind: 'none' } as const };
  const form = parseForm(request, PATH, 'files');
  return { ...common, fields: fieldsOf(form), body: { kind: 'form', form, without: GATEWAY_MEMBERS } as const };
}

async function answer(action: FamilyAction, request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const run = action.method === 'GET' ? readProviderObject : changeProviderObject;
  const { call, shown } = await run(scope, parseRequest(action, request));
  if (shown === null) return rawAnswer(call, scope);
  return { headerLines: callHeaders(call, scope), body: { kind: 'json', value: shown } };
}

const ROW = { ...STORED_OBJECT_ROW, surface: 'anthropic' } as const;

/** Body of an upload: the files of a skill, below one folder that has a `SKILL.md`. */
const FILES = { type: 'array', items: { type: 'string', format: 'binary' } } as const;
const UPLOAD = { bodyType: 'multipart/form-data', bodyLimit: 'setting' } as const satisfies Partial<RouteRow>;

/** Query of a list of versions, which the provider answers. */
const VERSION_PAGE = objectSchema({ limit: { type: 'integer' }, page: { type: 'string' } });

/** The row of an action on one skill. */
function rowOf(action: FamilyAction, more: Pick<Partial<RouteRow>, 'bodySchema' | 'querySchema'> = {}): RouteRow {
  const { name, method, createsObject, sendsBody, below } = action;
  const statuses = [
    200,
    ...(sendsBody ? [400] : []),
    401,
    ...(method === 'GET' ? [] : [403]),
    404,
    ...(sendsBody ? [413] : []),
    ...(createsObject ? [422, 429] : []),
    500,
  ];
  return {
    ...ROW,
    name,
    method,
    paths: bothPaths(`${PATH}/:id${below}`),
    statuses,
    bodyLimit: 0,
    ...(sendsBody ? UPLOAD : {}),
    ...more,
    handle: (request, scope) => answer(action, request, scope),
  };
}

/** Anthropic's API of skills: folders of instructions and code that a model loads. */
export const skillRoutes: readonly RouteRow[] = [
  {
    ...ROW,
    ...UPLOAD,
    name: SKILL.create.name,
    method: 'POST',
    paths: bothPaths(PATH),
    bodySchema: objectSchema({ files: FILES, display_name: { type: 'string' } }, []),
    statuses: [200, 400, 401, 403, 413, 422, 429, 500],
    handle: create,
  },
  {
    ...ROW,
    name: SKILL.list.name,
    method: 'GET',
    paths: bothPaths(PATH),
    querySchema: objectSchema({
      limit: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE },
      page: { type: 'string' },
      source: { enum: ['custom', 'anthropic'] },
    }),
    statuses: [200, 400, 401, 403, 500],
    bodyLimit: 0,
    handle: list,
  },
  rowOf(SKILL.get),
  rowOf(SKILL.delete),
  rowOf(SKILL.createVersion, { bodySchema: objectSchema({ files: FILES }, []) }),
  rowOf(SKILL.listVersions, { querySchema: VERSION_PAGE }),
  rowOf(SKILL.getVersion),
  rowOf(SKILL.deleteVersion),
  rowOf(SKILL.readVersion),
];
